import { and, eq, gt, lt } from 'drizzle-orm';
import { sessions } from '../db/schema.ts';
import type { PublicCtx } from '../db/ctx.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { sha256 } from '../shared/hash.ts';
import { randomBase62 } from '../shared/random.ts';

export const SESSION_MS = 30 * DAY_MS;

const TOKEN_PREFIX = 'lks_';
const TOKEN_LENGTH = 43;

export interface NewSession {
  token: string;
  expiresAt: number;
}

/** Returns a new session for the client, and the row to store. Only a hash of the token is stored. */
export const newSession = (accountId: string, nowMs: number) => {
  const token = TOKEN_PREFIX + randomBase62(TOKEN_LENGTH);
  const expiresAt = nowMs + SESSION_MS;
  return {
    session: { token, expiresAt } satisfies NewSession,
    row: { tokenHash: sha256(token), accountId, createdAt: nowMs, expiresAt },
  };
};

export const findSession = async ({ db }: PublicCtx, token: string) => {
  const [session] = await db
    .select({ tokenHash: sessions.tokenHash, accountId: sessions.accountId })
    .from(sessions)
    .where(and(eq(sessions.tokenHash, sha256(token)), gt(sessions.expiresAt, Date.now())));
  return session ?? null;
};

export const endSession = async ({ db }: PublicCtx, tokenHash: string): Promise<void> => {
  await db.delete(sessions).where(eq(sessions.tokenHash, tokenHash));
};

export const deleteExpiredSessions = ({ db }: PublicCtx, nowMs: number) =>
  db.delete(sessions).where(lt(sessions.expiresAt, nowMs));
