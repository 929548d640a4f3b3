import { AppError } from '../../shared/app-error.ts';

/** Answers a call that needed the provider, which is down or has refused. Nothing has changed here. */
export const providerFailed = (cause?: unknown): never => {
  throw new AppError('unavailable', {
    message: 'The payment provider did not respond, so try again later.',
    cause,
  });
};

/** The provider won't give a payment back, for example because it is disputed. Asking again may not help. */
export class RefundRefused extends AppError {
  constructor(cause: unknown) {
    super('unavailable', { message: 'The payment provider refuses to give this payment back.', cause });
  }
}
