import { and, desc, eq, exists, gt, inArray, lt, ne, type SQL } from 'drizzle-orm';
import { auditFirst } from '../audit/audit.ts';
import type { PublicCtx, UserCtx } from '../db/ctx.ts';
import { sessions } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import type { PageInput } from '../shared/schemas/lists.ts';
import { newId } from '../shared/text/ids.ts';
import { isMinted, mintToken } from '../users/tagged-tokens.ts';

const SESSION_MS = 30 * DAY_MS;
const MAX_SESSIONS = 50;
const MAX_USER_AGENT_LENGTH = 512;

const TOKEN_PREFIX = 'lks_';

export interface NewSession {
  token: string;
  expiresAt: number;
}

/** Returns the hash under which a session is stored, or null if the token's format or tag is invalid. */
export const hashToken = (ctx: PublicCtx, token: string): string | null =>
  isMinted(ctx, TOKEN_PREFIX, token) ? sha256(token) : null;

/** Returns a new session for the client, and the row to store. Only a hash of the token is stored. */
export const newSession = (
  ctx: PublicCtx,
  accountId: string,
  nowMs: number,
  userAgent: string | null = null,
) => {
  const token = mintToken(ctx, TOKEN_PREFIX);
  const expiresAt = nowMs + SESSION_MS;
  return {
    session: { token, expiresAt } satisfies NewSession,
    row: {
      tokenHash: sha256(token),
      accountId,
      createdAt: nowMs,
      expiresAt,
      id: newId('ses'),
      lastSeenAt: nowMs,
      ip: ctx.ip,
      userAgent: userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
    },
  };
};

export type SessionRow = typeof sessions.$inferSelect;

/** Returns a session that hasn't ended. */
export const findSession = async ({ firstDb }: PublicCtx, tokenHash: string) => {
  const [session] = await firstDb
    .select({
      accountId: sessions.accountId,
      id: sessions.id,
      lastSeenAt: sessions.lastSeenAt,
      createdAt: sessions.createdAt,
      provedAt: sessions.provedAt,
    })
    .from(sessions)
    .where(and(eq(sessions.tokenHash, tokenHash), gt(sessions.expiresAt, Date.now())));
  return session ?? null;
};

const PROOF_MS = 600_000;

/** Until when the session's holder counts as having proved who they are: by signing in, or again since then. */
export const provedUntil = ({ createdAt, provedAt }: Pick<SessionRow, 'createdAt' | 'provedAt'>): number =>
  (provedAt ?? createdAt) + PROOF_MS;

/** Statement that notes that the session's holder has proved again who they are. */
export const proveSession = ({ firstDb }: PublicCtx, tokenHash: string, nowMs: number) =>
  firstDb
    .update(sessions)
    .set({ provedAt: nowMs })
    .where(eq(sessions.tokenHash, tokenHash))
    .returning({ createdAt: sessions.createdAt, provedAt: sessions.provedAt });

const SEEN_MS = HOUR_MS;

/** Whether it's time to note again when, and from where, the session was used. */
export const isSeenDue = ({ lastSeenAt }: Pick<SessionRow, 'lastSeenAt'>): boolean =>
  Date.now() - lastSeenAt >= SEEN_MS;

export const noteSeen = async ({ firstDb, ip }: PublicCtx, tokenHash: string): Promise<void> => {
  await firstDb.update(sessions).set({ lastSeenAt: Date.now(), ip }).where(eq(sessions.tokenHash, tokenHash));
};

const isOpen = ({ accountId }: UserCtx) =>
  and(eq(sessions.accountId, accountId), gt(sessions.expiresAt, Date.now()));

/** Returns the account's sessions that haven't ended, the newest first, and one more than the limit. */
export const listSessions = (ctx: UserCtx, { limit, cursor }: PageInput): Promise<SessionRow[]> =>
  ctx.firstDb
    .select()
    .from(sessions)
    .where(and(isOpen(ctx), cursor === undefined ? undefined : lt(sessions.id, cursor)))
    .orderBy(desc(sessions.id))
    .limit(limit + 1);

/** Statement that ends a session. */
export const endSession = ({ firstDb }: PublicCtx, tokenHash: string) =>
  firstDb.delete(sessions).where(eq(sessions.tokenHash, tokenHash));

const isOther = (accountId: string, kept: string | null): SQL | undefined =>
  and(eq(sessions.accountId, accountId), kept === null ? undefined : ne(sessions.tokenHash, kept));

/** Statement that ends the account's sessions, except the given one. */
export const endOtherSessions = (
  { firstDb }: Pick<PublicCtx, 'firstDb'>,
  accountId: string,
  kept: string | null,
) => firstDb.delete(sessions).where(isOther(accountId, kept));

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

/** Ends one of the account's sessions, which may be the caller's own. */
export const endSessionById = async (ctx: UserCtx, id: string): Promise<void> => {
  const found = await ctx.firstDb
    .select({ tokenHash: sessions.tokenHash })
    .from(sessions)
    .where(and(isOpen(ctx), eq(sessions.id, id)))
    .get();
  if (!found) throw new AppError('not_found', { message: 'Session Not Found' });
  await ctx.firstDb.batch([endSession(ctx, found.tokenHash), auditFirst(ctx, 'session.end', id)]);
};

/** Ends the account's sessions except the caller's, and returns how many those were. */
export const endOthers = async (ctx: UserCtx, sessionHash: string | null): Promise<number> => {
  const { accountId, firstDb } = ctx;
  const others = firstDb.select({ id: sessions.id }).from(sessions).where(isOther(accountId, sessionHash));
  const [, ended] = await firstDb.batch([
    // Only if a session ends: repeated calls would otherwise fill the database with entries.
    auditFirst(ctx, 'session.end', null, null, exists(others)),
    endOtherSessions(ctx, accountId, sessionHash).returning({ tokenHash: sessions.tokenHash }),
  ]);
  return ended.length;
};
