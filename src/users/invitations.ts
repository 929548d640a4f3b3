import { and, eq, gt, inArray, lt, or, type SQL, sql } from 'drizzle-orm';
import type { PublicCtx } from '../db/ctx.ts';
import { invitations, users } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { isMinted, mintToken } from './tagged-tokens.ts';

// An invitation lets one person create an account of a service whose registration isn't open. The service stores only the hash
// of its token.

const PREFIX = 'lki_';

/** Returns a new token and the hash to store. */
export const newInvitation = (ctx: PublicCtx) => {
  const token = mintToken(ctx, PREFIX);
  return { token, tokenHash: sha256(token) };
};

const isOpen = (tokenHash: string) =>
  and(eq(invitations.tokenHash, tokenHash), gt(invitations.expiresAt, Date.now()));

/**
 * Returns the hash of the invitation that registering this address uses up, or null if it needs none. Throws if the address
 * can't register.
 */
export const admitRegistration = async (
  ctx: PublicCtx,
  email: string,
  token: string | undefined,
): Promise<string | null> => {
  const { registration } = settingsOf(ctx.env);
  if (registration === 'open') return null;
  if (registration === 'closed') throw new AppError('registration_closed');
  if (token === undefined)
    throw new AppError('registration_closed', { message: 'Registration Is by Invitation Only' });
  const tokenHash = sha256(token);
  const row = isMinted(ctx, PREFIX, token)
    ? await ctx.firstDb.select().from(invitations).where(isOpen(tokenHash)).get()
    : undefined;
  if (!row || (row.email !== null && row.email !== email))
    throw new AppError('invalid_token', {
      message: 'This Invitation Is Used, Expired, or for Another Address',
    });
  return tokenHash;
};

/** The value, or null, which its column refuses, if the invitation has been used meanwhile. */
export const unlessUsed = (tokenHash: string | null, value: string): SQL<string> =>
  tokenHash === null
    ? sql<string>`${value}`
    : sql<string>`iif(EXISTS (SELECT 1 FROM ${invitations} WHERE ${isOpen(tokenHash)}), ${value}, NULL)`;

/** Statement that uses an invitation up, if there is one, and deletes those that have expired. */
export const deleteInvitation = ({ firstDb }: Pick<PublicCtx, 'firstDb'>, tokenHash: string | null) =>
  firstDb
    .delete(invitations)
    .where(or(eq(invitations.tokenHash, tokenHash ?? ''), lt(invitations.expiresAt, Date.now())));

/** Statement that deletes the invitations of a user's address. */
export const deleteInvitationsOf = ({ firstDb }: Pick<PublicCtx, 'firstDb'>, accountId: string) =>
  firstDb
    .delete(invitations)
    .where(
      inArray(
        invitations.email,
        firstDb.select({ email: users.email }).from(users).where(eq(users.accountId, accountId)),
      ),
    );
