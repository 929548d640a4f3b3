import { and, eq, gt, inArray, lt, ne, type SQL, sql } from 'drizzle-orm';
import type { PublicCtx } from '../db/ctx.ts';
import { type TOKEN_PURPOSES, userTokens } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import { isMinted, mintToken } from './tagged-tokens.ts';

// Tokens that prove what a user could see: an email, or the answer to a login with two-factor authentication.

type Purpose = (typeof TOKEN_PURPOSES)[number];

/** For how long a changed address can be taken back. */
export const RESTORE_MS = 7 * DAY_MS;

const LIFETIME_MS: Record<Purpose, number> = {
  verify_email: DAY_MS,
  change_email: DAY_MS,
  restore_email: RESTORE_MS,
  reset_password: HOUR_MS,
  two_factor: 10 * 60_000,
  operator_email: 48 * HOUR_MS,
};

const TOKEN_PREFIX = 'lkt_';

/** Returns a new token and the row to store. */
export const newUserToken = (ctx: PublicCtx, accountId: string, purpose: Purpose, email = '') => {
  const token = mintToken(ctx, TOKEN_PREFIX);
  const expiresAt = Date.now() + LIFETIME_MS[purpose];
  return { token, row: { tokenHash: sha256(token), accountId, purpose, email, expiresAt } };
};

export const storeToken = (ctx: PublicCtx, row: ReturnType<typeof newUserToken>['row']) =>
  ctx.firstDb.batch([ctx.firstDb.insert(userTokens).values(row), deleteExpiredTokens(ctx)]);

/** Returns a token's row. Throws if the token is forged, used, expired, or for something else. */
export const findUserToken = async (ctx: PublicCtx, token: string, purposes: Purpose[]) => {
  const row = isMinted(ctx, TOKEN_PREFIX, token)
    ? await ctx.firstDb
        .select()
        .from(userTokens)
        .where(
          and(
            eq(userTokens.tokenHash, sha256(token)),
            inArray(userTokens.purpose, purposes),
            gt(userTokens.expiresAt, Date.now()),
          ),
        )
        .get()
    : undefined;
  if (!row) throw new AppError('invalid_token');
  return row;
};

/** Whether a token is still unused, as a condition for the batch that uses it. */
export const isUnused = (tokenHash: string): SQL =>
  sql`EXISTS (SELECT 1 FROM ${userTokens} WHERE ${userTokens.tokenHash} = ${tokenHash})`;

/** Statement that ends the account's tokens for these purposes. */
export const deleteTokens = ({ firstDb }: PublicCtx, accountId: string, purposes: readonly Purpose[]) =>
  firstDb
    .delete(userTokens)
    .where(and(eq(userTokens.accountId, accountId), inArray(userTokens.purpose, purposes)));

/** A change of the password ends what somebody who knew the old one may have started. */
export const ENDED_WITH_PASSWORD: Purpose[] = [
  'reset_password',
  'change_email',
  'two_factor',
  'operator_email',
];

/** Limits the work of one request. Each request adds one row, so the table still shrinks. */
const MAX_DELETED = 100;

export const deleteExpiredTokens = ({ firstDb }: PublicCtx) => {
  const expired = firstDb
    .select({ tokenHash: userTokens.tokenHash })
    .from(userTokens)
    // The scheduled work carries out what the operator has asked for, and deletes it then.
    .where(and(lt(userTokens.expiresAt, Date.now()), ne(userTokens.purpose, 'operator_email')))
    .limit(MAX_DELETED);
  return firstDb.delete(userTokens).where(inArray(userTokens.tokenHash, expired));
};
