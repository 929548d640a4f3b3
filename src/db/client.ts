import { and, eq, ne, sql } from 'drizzle-orm';
import { drizzle, type DrizzleD1Database } from 'drizzle-orm/d1';
import type { DatabaseEntry } from '../shared/config/databases.ts';
import { ConfigError, databasesText, settingsOf } from '../shared/config/settings.ts';
import { ANY, guarded } from './guarded.ts';
import { type Bound, findPlace } from './places.ts';
import { movedAccounts } from './schema.ts';

// Every database has all tables, but each row has one place. The first database stores what all accounts share: users,
// sessions and throttles. Everything that belongs to an account is in the account's own database, which may be the first.

declare const contents: unique symbol;

/** For users, sessions and throttles. */
export type FirstDatabase = DrizzleD1Database & { readonly [contents]?: 'shared' };

/** For everything that belongs to an account. */
export type AccountDatabase = DrizzleD1Database & { readonly [contents]?: 'accounts' };

export interface NamedDatabase extends Bound {
  /** For work on the rows of all accounts. It writes nothing while an account moves into the database, or out of it. */
  db: AccountDatabase;
  /** For what all accounts share, and for the move itself. */
  unfenced: AccountDatabase;
}

const isD1 = (binding: unknown): binding is D1Database =>
  typeof binding === 'object' && binding !== null && 'prepare' in binding;

const bind = (env: Env, entry: DatabaseEntry): Bound => {
  const d1 = (env as unknown as Record<string, unknown>)[entry.binding];
  if (!isD1(d1)) {
    throw new ConfigError(`DATABASES names ${entry.binding}, but wrangler.toml has no such D1 binding.`);
  }
  return { ...entry, d1 };
};

const databasesByEnv = new WeakMap<Env, [NamedDatabase, ...NamedDatabase[]]>();

/** Returns the databases that store accounts, the first database first. Throws if DATABASES is invalid. */
export const accountDatabases = (env: Env): [NamedDatabase, ...NamedDatabase[]] => {
  let databases = databasesByEnv.get(env);
  if (!databases) {
    const [first, ...others] = settingsOf(env).databases;
    const bound = [bind(env, first), ...others.map((entry) => bind(env, entry))] as const;
    const text = databasesText(env);
    const open = (database: Bound): NamedDatabase => {
      const { d1 } = database;
      const unfenced = drizzle(guarded(text, bound, () => ({ d1, fencedBy: null })));
      // With one database, no account can move.
      const db = bound.length === 1 ? unfenced : drizzle(guarded(text, bound, () => ({ d1, fencedBy: ANY })));
      return { ...database, db, unfenced };
    };
    databases = [open(bound[0]), ...bound.slice(1).map(open)];
    databasesByEnv.set(env, databases);
  }
  return databases;
};

/** Returns where the account is stored now. */
export const placeOf = (env: Env, accountId: string): Promise<NamedDatabase> =>
  findPlace(databasesText(env), accountDatabases(env), accountId);

const byPlace = (env: Env, accountId: string, fencedBy: string | null): AccountDatabase => {
  const databases = accountDatabases(env);
  if (databases.length === 1) return databases[0].db;
  const place = async () => ({ d1: (await placeOf(env, accountId)).d1, fencedBy });
  return drizzle(guarded(databasesText(env), databases, place));
};

/**
 * Returns the database that stores the account and everything that belongs to it. Each statement finds it when it runs, and
 * writes nothing while the account moves to another one.
 */
export const databaseOf = (env: Env, accountId: string): AccountDatabase =>
  byPlace(env, accountId, accountId);

/** The same for the account's gate, which also reads the feed, and deletes what it has read, while the account moves. */
export const gateDatabaseOf = (env: Env, accountId: string): AccountDatabase => byPlace(env, accountId, null);

export const firstDatabase = (env: Env): FirstDatabase =>
  accountDatabases(env)[0].unfenced as DrizzleD1Database;

/** Whether the account's own database is the first one. */
export const isInFirst = async (env: Env, accountId: string): Promise<boolean> =>
  (await placeOf(env, accountId)).binding === accountDatabases(env)[0].binding;

/**
 * The statements by which work on all accounts of a database refuses to change one that has moved out of it since it was found.
 * `databaseOf` does that by itself.
 */
export const unlessMoved = (env: Env, db: AccountDatabase, accountId: string) => {
  const databases = accountDatabases(env);
  if (databases.length === 1 || databases.every((database) => database.db !== db)) return [];
  const hasMoved = and(eq(movedAccounts.id, accountId), ne(movedAccounts.state, 'guest'));
  return [
    db
      .update(movedAccounts)
      .set({ id: sql`NULL` })
      .where(hasMoved),
  ];
};
