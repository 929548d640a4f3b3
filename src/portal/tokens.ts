import { createHmac } from 'node:crypto';
import { and, between, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { AccountDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { deleteOldest } from '../db/prune.ts';
import { type PORTAL_TOKEN_PURPOSES, portalTokens, type PortalTokenRow } from '../db/schema.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { isMinted, mintToken } from '../users/tagged-tokens.ts';

// What lets a customer in: links of emails, links of the seller's application, and codes. D1 has only hashes of them.

export type PortalPurpose = (typeof PORTAL_TOKEN_PURPOSES)[number];
type LinkPurpose = Exclude<PortalPurpose, 'code'>;

const MINUTE_MS = 60_000;
const LIFETIME_MS: Record<PortalPurpose, number> = {
  sign_in: 30 * MINUTE_MS,
  open: 5 * MINUTE_MS,
  code: 30 * MINUTE_MS,
  change_from: DAY_MS,
  change_to: DAY_MS,
};

/** By the prefix, the page knows what a link does before its button is pressed. */
const prefixOf = (purpose: LinkPurpose) => (purpose.startsWith('change') ? 'lkc_' : 'lkl_');

interface TokenFields {
  email: string;
  licenseId?: string | null;
  changeId?: string | null;
  returnUrl?: string | null;
}

const toRow = (
  accountId: string,
  purpose: PortalPurpose,
  tokenHash: string,
  { email, licenseId = null, changeId = null, returnUrl = null }: TokenFields,
): PortalTokenRow => ({
  tokenHash,
  accountId,
  purpose,
  email,
  licenseId,
  changeId,
  returnUrl,
  expiresAt: Date.now() + LIFETIME_MS[purpose],
  tries: 0,
});

export const newLink = ({ env, accountId }: Ctx, purpose: LinkPurpose, fields: TokenFields) => {
  const token = mintToken({ env }, prefixOf(purpose));
  return { token, row: toRow(accountId, purpose, sha256(token), fields) };
};

/** Returns the hash of a link's token, or null if it is forged. */
export const hashLink = ({ env }: Pick<Ctx, 'env'>, token: string): string | null =>
  isMinted({ env }, 'lkl_', token) || isMinted({ env }, 'lkc_', token) ? sha256(token) : null;

const CODE_DIGITS = 6;

/** A code has so few digits that a reader of D1 could try them all, so its hash needs a secret. */
export const hashCode = ({ env, accountId }: Ctx, licenseId: string, code: string): string =>
  createHmac('sha256', settingsOf(env).apiKeySecrets[0])
    .update(`portal-code\n${accountId}\n${licenseId}\n${code}`)
    .digest('base64url');

export const newCode = (ctx: Ctx, licenseId: string, email: string) => {
  const number = (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % 10 ** CODE_DIGITS;
  const code = String(number).padStart(CODE_DIGITS, '0');
  return { code, row: toRow(ctx.accountId, 'code', hashCode(ctx, licenseId, code), { email, licenseId }) };
};

/** The tokens that a customer has of one kind. */
export const isTokenOf = ({ accountId }: Ctx, email: string, purpose: PortalPurpose) =>
  and(
    eq(portalTokens.accountId, accountId),
    eq(portalTokens.email, email),
    eq(portalTokens.purpose, purpose),
  );

/** An hour after it was sent, a link or code has expired for 30 minutes. A minute more, since it is made before its email counts. */
const RENEWABLE_MS = 31 * MINUTE_MS;

/** Lets what was sent within the hour before a time, and wasn't used, work until then. Nothing is renewed in another hour again. */
export const renewTokens = (db: AccountDatabase, areMeant: SQL | undefined, untilMs: number) =>
  db
    .update(portalTokens)
    .set({ expiresAt: untilMs })
    .where(and(areMeant, between(portalTokens.expiresAt, untilMs - RENEWABLE_MS, untilMs)));

/** Limits the work of one request. Each adds two rows at most, so the table still shrinks. */
const MAX_DELETED = 100;

export const deleteExpiredTokens = (db: AccountDatabase) =>
  deleteOldest(db, portalTokens, {
    time: portalTokens.expiresAt,
    throughMs: Date.now() - RENEWABLE_MS,
    limit: MAX_DELETED,
  });

export const insertToken = (db: AccountDatabase, row: PortalTokenRow) => db.insert(portalTokens).values(row);

/** A token that still works, as a condition. */
export const isUsable = ({ accountId }: Ctx, tokenHash: string, purposes: PortalPurpose[]) =>
  and(
    eq(portalTokens.tokenHash, tokenHash),
    eq(portalTokens.accountId, accountId),
    inArray(portalTokens.purpose, purposes),
    sql`${portalTokens.expiresAt} > ${Date.now()}`,
  );
