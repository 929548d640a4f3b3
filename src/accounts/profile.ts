import { and, eq, gt } from 'drizzle-orm';
import { type LimitedAccount, getAccount } from '../db/account.ts';
import { firstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { users, userTokens } from '../db/schema.ts';
import { copyUser } from '../users/copy.ts';

/** An account with what its user has to show. */
export interface Profile extends LimitedAccount {
  emailVerifiedAt: number | null;
  /** An email address that takes the place of the present one when it is confirmed. */
  pendingEmail: string | null;
  twoFactor: boolean;
  /** When two-factor authentication goes off, because the operator was asked for it. */
  twoFactorResetAt: number | null;
}

/**
 * Returns the account with its user's email address. If a change or the proof of the address was cut off between the two
 * databases, this completes it.
 */
export const getProfile = async (ctx: Ctx): Promise<Profile> => {
  const firstDb = firstDatabase(ctx.env);
  const [account, [[user], [pending]]] = await Promise.all([
    getAccount(ctx),
    firstDb.batch([
      firstDb.select().from(users).where(eq(users.accountId, ctx.accountId)),
      firstDb
        .select({ email: userTokens.email })
        .from(userTokens)
        .where(
          and(
            eq(userTokens.accountId, ctx.accountId),
            eq(userTokens.purpose, 'change_email'),
            gt(userTokens.expiresAt, Date.now()),
          ),
        ),
    ]),
  ]);
  if (!user) throw new Error(`The account ${ctx.accountId} has no user.`);
  const isProved = account.isUnverified && user.emailVerifiedAt !== null;
  if (isProved || user.email !== account.email) await copyUser(ctx);
  return {
    ...account,
    email: user.email,
    emailVerifiedAt: user.emailVerifiedAt,
    pendingEmail: pending?.email ?? null,
    twoFactor: user.twoFactorEnabledAt !== null,
    twoFactorResetAt: user.twoFactorResetAt,
  };
};
