import { databaseOf } from '../../db/client.ts';
import { AppError } from '../../shared/app-error.ts';
import { logLine } from '../../shared/text/log.ts';
import type { Provider } from '../provider/provider.ts';
import { applyFact } from './apply.ts';

/** Handles a notification from any provider. Repeated, late and unknown notifications succeed. */
export const receiveNotification = async (
  env: Env,
  provider: Provider,
  body: string,
  headers: Headers,
): Promise<void> => {
  const notification = await provider.readNotification(body, headers);
  if (!notification) {
    throw new AppError('invalid_request', { details: [{ path: 'signature', message: 'is invalid' }] });
  }
  const { id, type, accountId, facts } = notification;
  logLine('info', { event: 'payment_notification', provider: provider.name, id, type, facts: facts.length });
  // A subscription that this service hasn't begun names no account.
  if (accountId === null) return;
  const ctx = { env, db: databaseOf(env, accountId) };
  // In order, because a subscription must begin before it can be renewed or end.
  for (const fact of facts) await applyFact(ctx, provider, fact);
};
