/** An error that the user sees without a stack. */
export class CliError extends Error {
  readonly code: string;
  readonly requestId: string | null;
  readonly details: { path: string; message: string }[];
  readonly advice: string | null;
  readonly status: number | null;

  constructor(
    message: string,
    {
      code = 'failed',
      requestId = null,
      details = [],
      advice = null,
      status = null,
      cause,
    }: {
      code?: string;
      requestId?: string | null;
      details?: { path: string; message: string }[];
      advice?: string | null;
      status?: number | null;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause });
    this.name = 'CliError';
    this.code = code;
    this.requestId = requestId;
    this.details = details;
    this.advice = advice;
    this.status = status;
  }
}

/** The reason of a failed `fetch`, which is in the error's cause. */
export const networkReason = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer in time';
  const { cause } = error;
  if (cause instanceof AggregateError && cause.errors.length > 0) return networkReason(cause.errors[0]);
  return cause instanceof Error ? networkReason(cause) : error.message;
};
