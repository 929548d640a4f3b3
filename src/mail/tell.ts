import { and, eq, exists, type SQL } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { PublicCtx } from '../db/ctx.ts';
import { users } from '../db/schema.ts';
import { logError } from '../shared/text/log.ts';
import { deliver, hasMail } from './deliver.ts';
import { type HeldKey, hold, holdForLater, type MailCtx, release, take } from './held.ts';
import type { Letter } from './letter.ts';
import { isWithinLimits } from './limits.ts';

// Emails about security. Each is committed with what it tells, then sent at once, and then deleted. So a process that dies in
// between loses none: the scheduled work sends it.

/** An email about a change. */
export interface Told {
  /** What the batch that makes the change commits. */
  statements: BatchItem<'sqlite'>[];
  /** Sends it, once that is committed. The response doesn't wait for it. */
  send: () => void;
}

export const NOTHING_TOLD: Told = { statements: [], send: () => {} };

const isSentNow = async ({ env }: MailCtx, letter: Letter): Promise<boolean> => {
  if (!(await isWithinLimits(env, letter))) return false;
  try {
    await deliver(env, letter.to, letter.content);
    return true;
  } catch (error) {
    logError('mail_not_sent', error);
    return false;
  }
};

/** What isn't sent now is merged with what is held already. If anything fails, it is sent by the scheduled work. */
const sendNow = async (ctx: MailCtx, letter: Letter, key: HeldKey): Promise<void> => {
  try {
    if (!(await take(ctx, key))) return;
    if (await isSentNow(ctx, letter)) {
      await release(ctx, key);
      return;
    }
    const { statement } = await holdForLater(ctx, letter);
    await ctx.db.batch([statement, release(ctx, key)]);
  } catch (error) {
    logError('mail_not_sent', error);
  }
};

/** As `tell`, in any database, if the condition is met. */
export const tellIn = async (
  { env, waitUntil }: Pick<PublicCtx, 'env' | 'waitUntil'>,
  db: MailCtx['db'],
  letter: Letter<'security'>,
  condition: SQL,
): Promise<Told> => {
  if (!hasMail(env)) return NOTHING_TOLD;
  const ctx = { env, db };
  const { key, statement } = await hold(ctx, letter, condition);
  return { statements: [statement], send: () => waitUntil(sendNow(ctx, letter, key)) };
};

/**
 * Tells of a change in the first database. An account that was just erased tells nothing, and `isTold` is another condition, of
 * the user.
 *
 * @example
 * const told = await tell(ctx, letterTo(user, passwordChanged(client.origin)));
 * await ctx.firstDb.batch([setPassword(ctx, changed, isSamePassword(user)), ...told.statements]);
 * told.send();
 */
export const tell = (ctx: PublicCtx, letter: Letter<'security'>, isTold?: SQL): Promise<Told> => {
  const { firstDb } = ctx;
  const isUser = and(eq(users.accountId, letter.accountId), isTold);
  const isMet = exists(firstDb.select({ id: users.accountId }).from(users).where(isUser));
  return tellIn(ctx, firstDb, letter, isMet);
};
