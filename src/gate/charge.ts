import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { logError } from '../shared/log.ts';
import { gateOf } from '../shared/objects.ts';
import type { CountedCall } from './ledger.ts';

type Caller = Pick<Ctx, 'env' | 'accountId' | 'key'>;

/** Counts a licensing call made with an API key, and refunds it if the call fails. */
export const charged = async <T>(caller: Caller, call: CountedCall, work: () => Promise<T>): Promise<T> => {
  if (!caller.key) return work();
  const gate = gateOf(caller.env, caller.accountId);
  const charge = await gate.charge(call);
  if (charge.refused !== null) {
    throw new AppError(charge.refused, { headers: { 'Retry-After': String(charge.retryAfterSeconds) } });
  }
  try {
    return await work();
  } catch (error) {
    await gate.refund(charge.receipt).catch((refundError: unknown) => {
      logError('refund_failed', refundError, { account_id: caller.accountId });
    });
    throw error;
  }
};
