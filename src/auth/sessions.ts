import { createHmac } from 'node:crypto';
import { and, desc, eq, gt, inArray, lt } from 'drizzle-orm';
import { sessions } from '../db/schema.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { readConfig } from '../shared/config.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { equalInConstantTime, sha256 } from '../shared/hash.ts';
import { randomBase62, toBase62 } from '../shared/random.ts';

// A session token is lks_ + secret + tag, all letters and digits. The tag is an HMAC of the rest, so a forged token can
// be refused without a lookup. Tokens that were issued before tags existed have none.

export const SESSION_MS = 30 * DAY_MS;
const MAX_SESSIONS = 50;

const TOKEN_PREFIX = 'lks_';
/** 256 random bits. */
const SECRET_LENGTH = 43;
/** 65 bits. The tag only filters out forged tokens; the stored hash authenticates a session. */
const TAG_LENGTH = 11;
const BODY_LENGTH = TOKEN_PREFIX.length + SECRET_LENGTH;
const TAGGED = new RegExp(`^${TOKEN_PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + TAG_LENGTH}}$`);
const UNTAGGED = new RegExp(`^${TOKEN_PREFIX}[0-9A-Za-z]{${SECRET_LENGTH}}$`);

export interface NewSession {
  token: string;
  expiresAt: number;
}

const computeTag = ({ env }: PublicCtx, body: string) =>
  toBase62(createHmac('sha256', readConfig(env).apiKeySecret).update(body).digest().subarray(0, TAG_LENGTH));

/** The first character of a tagged token's stored hash. It sorts after every hash of an untagged token. */
const TAGGED_HASH_PREFIX = '~';

/** Returns the hash under which a session is stored, or null if the token's format or tag is invalid. */
export const hashToken = (ctx: PublicCtx, token: string): string | null => {
  if (UNTAGGED.test(token)) return sha256(token);
  if (!TAGGED.test(token)) return null;
  const tag = computeTag(ctx, token.slice(0, BODY_LENGTH));
  return equalInConstantTime(tag, token.slice(BODY_LENGTH)) ? TAGGED_HASH_PREFIX + sha256(token) : null;
};

/** Returns a new session for the client, and the row to store. Only a hash of the token is stored. */
export const newSession = (ctx: PublicCtx, accountId: string, nowMs: number) => {
  const body = TOKEN_PREFIX + randomBase62(SECRET_LENGTH);
  const token = body + computeTag(ctx, body);
  const expiresAt = nowMs + SESSION_MS;
  return {
    session: { token, expiresAt } satisfies NewSession,
    row: { tokenHash: TAGGED_HASH_PREFIX + sha256(token), accountId, createdAt: nowMs, expiresAt },
  };
};

const UNTAGGED_CHECK_MS = 60_000;
let untaggedCheckedMs = -Infinity;
let hasUntagged = true;

/** Whether sessions without a tag remain. They are gone 30 days after the upgrade, so a forged one costs no read then. */
const mayBeUntagged = async ({ firstDb }: PublicCtx): Promise<boolean> => {
  const nowMs = Date.now();
  if (Math.abs(nowMs - untaggedCheckedMs) >= UNTAGGED_CHECK_MS) {
    const rows = await firstDb
      .select({ accountId: sessions.accountId })
      .from(sessions)
      .where(lt(sessions.tokenHash, TAGGED_HASH_PREFIX))
      .limit(1);
    hasUntagged = rows.length > 0;
    untaggedCheckedMs = nowMs;
  }
  return hasUntagged;
};

/** Returns the account of a session that hasn't ended. */
export const findSession = async (ctx: PublicCtx, tokenHash: string) => {
  if (!tokenHash.startsWith(TAGGED_HASH_PREFIX) && !(await mayBeUntagged(ctx))) return null;
  const [session] = await ctx.firstDb
    .select({ accountId: sessions.accountId })
    .from(sessions)
    .where(and(eq(sessions.tokenHash, tokenHash), gt(sessions.expiresAt, Date.now())));
  return session ?? null;
};

/** Statement that ends a session. */
export const endSession = ({ firstDb }: PublicCtx, tokenHash: string) =>
  firstDb.delete(sessions).where(eq(sessions.tokenHash, tokenHash));

/** Statement that ends the session of a token, if it is valid. */
export const endSessionOf = (ctx: PublicCtx, token: string | null) =>
  ctx.firstDb.delete(sessions).where(eq(sessions.tokenHash, hashToken(ctx, token ?? '') ?? ''));

/** Limits the work of one request. Each login adds one row, so the table still shrinks. */
const MAX_DELETED = 100;

/** Statement that ends the account's oldest sessions, to make room for a new session. */
export const endOldestSessions = ({ firstDb }: PublicCtx, accountId: string) => {
  const oldest = firstDb
    .select({ tokenHash: sessions.tokenHash })
    .from(sessions)
    .where(eq(sessions.accountId, accountId))
    .orderBy(desc(sessions.createdAt))
    .limit(MAX_DELETED)
    .offset(MAX_SESSIONS - 1);
  return firstDb.delete(sessions).where(inArray(sessions.tokenHash, oldest));
};

export const deleteExpiredSessions = ({ firstDb }: PublicCtx, nowMs: number) => {
  const expired = firstDb
    .select({ tokenHash: sessions.tokenHash })
    .from(sessions)
    .where(lt(sessions.expiresAt, nowMs))
    .limit(MAX_DELETED);
  return firstDb.delete(sessions).where(inArray(sessions.tokenHash, expired));
};
