import { and, eq, ne } from 'drizzle-orm';
import type { PublicCtx } from '../db/ctx.ts';
import { knownBrowsers, users } from '../db/schema.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { createLru } from '../shared/memory/lru.ts';
import type { Client } from './client.ts';
import { browserLimits, type Limit, loginLimits } from './limits.ts';
import { isMinted, mintToken } from './tagged-tokens.ts';

// A browser gets a cookie with a random token at its first sign-in. The account remembers the token's hash.

const TOKEN_PREFIX = 'lkb_';

/** More than strangers can sign in with in an hour. Otherwise, whoever knows the password could push out the owner's browsers. */
const MAX_BROWSERS = 100;

/** Returns the browser's token, or a new one if it has none, or one without a tag, as v0.1.0 made them. */
export const browserTokenOf = (ctx: PublicCtx, presented: string | null): string =>
  presented !== null && isMinted(ctx, TOKEN_PREFIX, presented) ? presented : mintToken(ctx, TOKEN_PREFIX);

type BrowserRow = typeof knownBrowsers.$inferSelect;

export const findBrowsers = ({ firstDb }: PublicCtx, accountId: string): Promise<BrowserRow[]> =>
  firstDb.select().from(knownBrowsers).where(eq(knownBrowsers.accountId, accountId));

/** Whether the account doesn't know this browser. After a new password, it knows none but the one that set it. */
export const isNewBrowser = (known: BrowserRow[], presented: string | null): boolean => {
  const hash = presented === null ? null : sha256(presented);
  return known.every(({ browserHash }) => browserHash !== hash);
};

const STRANGERS_IN_MEMORY = 10_000;
const STRANGER_MS = 60_000;
/** Until when this isolate takes a browser for a stranger to an email address, so that a flood doesn't query D1. */
const strangerUntil = createLru<number>(STRANGERS_IN_MEMORY);

/** Returns the account with this email address, if it knows the browser. A forged token costs no query. */
const findAccountOf = async (ctx: PublicCtx, email: string, token: string | null): Promise<string | null> => {
  if (token === null || !isMinted(ctx, TOKEN_PREFIX, token)) return null;
  const browserHash = sha256(token);
  const name = sha256(`${browserHash} ${email}`);
  const nowMs = Date.now();
  if ((strangerUntil.get(name) ?? 0) > nowMs) return null;
  const known = await ctx.firstDb
    .select({ accountId: users.accountId })
    .from(users)
    .innerJoin(knownBrowsers, eq(knownBrowsers.accountId, users.accountId))
    .where(and(eq(users.email, email), eq(knownBrowsers.browserHash, browserHash)))
    .get();
  if (!known) strangerUntil.set(name, nowMs + STRANGER_MS);
  return known?.accountId ?? null;
};

/** Returns the limits of a sign-in: the browser's own if the account knows it, and those of strangers otherwise. */
export const limitsOf = async (
  ctx: PublicCtx,
  email: string,
  { ip, browserToken }: Client,
  ofStrangers = loginLimits(ip, email),
): Promise<Limit[]> => {
  const accountId = await findAccountOf(ctx, email, browserToken);
  return accountId === null || browserToken === null
    ? ofStrangers
    : browserLimits(accountId, sha256(browserToken));
};

/** Statement that remembers a browser. */
export const rememberBrowser = ({ firstDb }: PublicCtx, accountId: string, token: string) => {
  const seenAt = Date.now();
  return firstDb
    .insert(knownBrowsers)
    .values({ accountId, browserHash: sha256(token), seenAt })
    .onConflictDoUpdate({ target: [knownBrowsers.accountId, knownBrowsers.browserHash], set: { seenAt } });
};

/** Statement that forgets every browser but the given one. Whoever knew the old password may have signed in with them. */
export const forgetOtherBrowsers = ({ firstDb }: PublicCtx, accountId: string, kept: string | null) =>
  firstDb
    .delete(knownBrowsers)
    .where(and(eq(knownBrowsers.accountId, accountId), ne(knownBrowsers.browserHash, sha256(kept ?? ''))));

/** Statements that forget the browsers that were not seen for longest, to make room for the one that signs in. */
export const forgetBrowsers = ({ firstDb }: PublicCtx, known: BrowserRow[], token: string) => {
  const signingIn = sha256(token);
  return known
    .filter(({ browserHash }) => browserHash !== signingIn)
    .toSorted((a, b) => b.seenAt - a.seenAt)
    .slice(MAX_BROWSERS - 1)
    .map(({ accountId, browserHash }) =>
      firstDb
        .delete(knownBrowsers)
        .where(and(eq(knownBrowsers.accountId, accountId), eq(knownBrowsers.browserHash, browserHash))),
    );
};
