import type { PublicCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { logLine } from '../shared/log.ts';
import { applyFact } from './apply.ts';
import type { Provider } from './provider.ts';

/** The one entry of every provider's notifications. Repeated, late and unknown ones are answered 200. */
export const receiveNotification = async (
  ctx: PublicCtx,
  provider: Provider,
  body: string,
  headers: Headers,
): Promise<void> => {
  const notification = await provider.readNotification(body, headers);
  if (!notification) {
    throw new AppError('invalid_request', { details: [{ path: 'signature', message: 'is not right' }] });
  }
  const { id, type, facts } = notification;
  logLine('info', { event: 'payment_notification', provider: provider.name, id, type, facts: facts.length });
  // In their order: a subscription has to begin before it can be renewed or end.
  for (const fact of facts) await applyFact(ctx, provider, fact);
};
