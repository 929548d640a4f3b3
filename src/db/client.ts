import { drizzle, type DrizzleD1Database } from 'drizzle-orm/d1';
import { chooseDatabase, type DatabaseEntry } from '../shared/config/databases.ts';
import { ConfigError, settingsOf } from '../shared/config/settings.ts';

// Every database has all tables, but each row has one place. The first database stores what all accounts share: users,
// sessions and throttles. Everything that belongs to an account is in the account's own database, which may be the first.

declare const contents: unique symbol;

/** For users, sessions and throttles. */
export type FirstDatabase = DrizzleD1Database & { readonly [contents]?: 'shared' };

/** For everything that belongs to an account. */
export type AccountDatabase = DrizzleD1Database & { readonly [contents]?: 'accounts' };

export interface NamedDatabase extends DatabaseEntry {
  db: AccountDatabase;
}

const isD1 = (binding: unknown): binding is D1Database =>
  typeof binding === 'object' && binding !== null && 'prepare' in binding;

const openDatabase = (env: Env, entry: DatabaseEntry): NamedDatabase => {
  const binding = (env as unknown as Record<string, unknown>)[entry.binding];
  if (!isD1(binding)) {
    throw new ConfigError(`DATABASES names ${entry.binding}, but wrangler.toml has no such D1 binding.`);
  }
  return { ...entry, db: drizzle(binding) };
};

const databasesByEnv = new WeakMap<Env, [NamedDatabase, ...NamedDatabase[]]>();

/** Returns the databases that store accounts, the first database first. Throws if DATABASES is invalid. */
export const accountDatabases = (env: Env): [NamedDatabase, ...NamedDatabase[]] => {
  let databases = databasesByEnv.get(env);
  if (!databases) {
    const [first, ...others] = settingsOf(env).databases;
    databases = [openDatabase(env, first), ...others.map((entry) => openDatabase(env, entry))];
    databasesByEnv.set(env, databases);
  }
  return databases;
};

/** Returns the database that stores the account and everything that belongs to it. */
export const databaseOf = (env: Env, accountId: string): AccountDatabase =>
  chooseDatabase(accountDatabases(env), accountId).db;

export const firstDatabase = (env: Env): FirstDatabase => accountDatabases(env)[0].db as DrizzleD1Database;
