import { audited } from '../audit/audited.ts';
import { getAccount } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { findClaimed } from '../db/idempotency.ts';
import { AppError } from '../shared/app-error.ts';
import { gateOf } from '../shared/objects/address.ts';
import { type Region, REGION_NAMES } from '../shared/rules/regions.ts';

/** Returns where the account moves to, or null. */
export const findMove = async ({ env, accountId }: Ctx): Promise<Region | null> =>
  gateOf(env, accountId).movingTo();

/** Starts to move the account. A repeat, and a move to the home region, change nothing. */
export const moveHome = async (ctx: Ctx, region: Region) => {
  if (ctx.key) throw new AppError('insufficient_scope', { message: 'Only a session can move the account.' });
  // Throws if the Idempotency-Key belongs to another call, which the rest finds out only where it makes a change.
  if (ctx.idempotency) await findClaimed(ctx, ctx.idempotency);
  const [{ homeRegion }, movingTo] = await Promise.all([getAccount(ctx), findMove(ctx)]);
  // The audit log has no entry of a move that changes nothing.
  if (region === (movingTo ?? homeRegion)) return { home_region: homeRegion, moving_to: movingTo };
  const start = async (isDryRun: boolean) => {
    const answer = await gateOf(ctx.env, ctx.accountId).startMove(region, isDryRun);
    if (answer.refused === 'moving')
      throw new AppError('invalid_transition', {
        message: `The account is moving to ${REGION_NAMES[answer.movingTo]}. Wait until it has arrived.`,
      });
    if (answer.refused === 'too_soon')
      throw new AppError('invalid_transition', {
        message: 'The account has moved within the last 24 hours.',
        retryAfterSeconds: answer.retryAfterSeconds,
      });
    return answer;
  };
  const reply = await audited(ctx, ['account.move', region], {
    check: () => start(true),
    makeChange: () => start(false),
  });
  return { home_region: homeRegion, moving_to: reply.movingTo };
};
