import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { randomBase62 } from '../shared/crypto/random.ts';
import { gateOf } from '../shared/objects/address.ts';
import { EXPORT_PACE, IMPORT_PACE } from '../shared/rules/paces.ts';
import { logError } from '../shared/text/log.ts';

/** Returns once the transfer may go on with work that costs so many calls. Throws if another transfer runs. */
export type TakeTurn = (calls: number) => Promise<void>;

interface Size {
  lines: number;
  length: number;
}

const costOf = (call: Size) => (size: Size) => Math.max(size.lines / call.lines, size.length / call.length);
export const costOfImport = costOf(IMPORT_PACE);
export const costOfExport = costOf(EXPORT_PACE);

const end = async ({ env, accountId }: Ctx, id: string) => {
  try {
    await gateOf(env, accountId).endTransfer(id);
  } catch (error) {
    // The gate lets the next transfer in when the lease has run out.
    logError('transfer_not_ended', error, { account_id: accountId });
  }
};

/** Runs an import or export while no other one of the account does, at the pace of the account's plan. */
export async function* runAlone(
  ctx: Ctx,
  run: (takeTurn: TakeTurn) => AsyncGenerator<object[]>,
): AsyncGenerator<object[]> {
  const id = randomBase62(12);
  const takeTurn = async (calls: number) => {
    const turn = await gateOf(ctx.env, ctx.accountId).takeTransferTurn(id, calls);
    if (turn.refused === null) return scheduler.wait(turn.waitMs);
    throw new AppError(turn.refused, {
      message: 'Another Import or Export Is Running',
      retryAfterSeconds: turn.retryAfterSeconds,
    });
  };
  await takeTurn(0);
  try {
    yield* run(takeTurn);
  } finally {
    await end(ctx, id);
  }
}
