import { and, eq } from 'drizzle-orm';
import type { PublicCtx } from '../db/ctx.ts';
import { knownBrowsers } from '../db/schema.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { randomBase62 } from '../shared/crypto/random.ts';

// A browser gets a cookie with a random token at its first sign-in. The account remembers the token's hash.

const TOKEN_LENGTH = 43;
const TOKEN = new RegExp(`^[0-9A-Za-z]{${TOKEN_LENGTH}}$`);

const MAX_BROWSERS = 50;

/** Returns the browser's token, or a new one if it has none. */
export const browserTokenOf = (presented: string | null): string =>
  presented !== null && TOKEN.test(presented) ? presented : randomBase62(TOKEN_LENGTH);

type BrowserRow = typeof knownBrowsers.$inferSelect;

export const findBrowsers = ({ firstDb }: PublicCtx, accountId: string): Promise<BrowserRow[]> =>
  firstDb.select().from(knownBrowsers).where(eq(knownBrowsers.accountId, accountId));

/** Whether the account knows other browsers, but not this one. */
export const isNewBrowser = (known: BrowserRow[], token: string): boolean => {
  const hash = sha256(token);
  return known.length > 0 && known.every(({ browserHash }) => browserHash !== hash);
};

/** Statement that remembers a browser. */
export const rememberBrowser = ({ firstDb }: PublicCtx, accountId: string, token: string) => {
  const seenAt = Date.now();
  return firstDb
    .insert(knownBrowsers)
    .values({ accountId, browserHash: sha256(token), seenAt })
    .onConflictDoUpdate({ target: [knownBrowsers.accountId, knownBrowsers.browserHash], set: { seenAt } });
};

/** Statements that forget the browsers that were not seen for longest, to make room for another. */
export const forgetBrowsers = ({ firstDb }: PublicCtx, known: BrowserRow[]) =>
  known
    .toSorted((a, b) => b.seenAt - a.seenAt)
    .slice(MAX_BROWSERS - 1)
    .map(({ accountId, browserHash }) =>
      firstDb
        .delete(knownBrowsers)
        .where(and(eq(knownBrowsers.accountId, accountId), eq(knownBrowsers.browserHash, browserHash))),
    );
