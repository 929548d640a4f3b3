import { drizzle, type DrizzleD1Database } from 'drizzle-orm/d1';
import { chooseDatabase, type DatabaseEntry } from '../shared/config/databases.ts';
import { ConfigError, databasesText, settingsOf } from '../shared/config/settings.ts';
import { type Bound, guarded } from './identity.ts';

// Every database has all tables, but each row has one place. The first database stores what all accounts share: users,
// sessions and throttles. Everything that belongs to an account is in the account's own database, which may be the first.

declare const contents: unique symbol;

/** For users, sessions and throttles. */
export type FirstDatabase = DrizzleD1Database & { readonly [contents]?: 'shared' };

/** For everything that belongs to an account. */
export type AccountDatabase = DrizzleD1Database & { readonly [contents]?: 'accounts' };

export interface NamedDatabase extends Bound {
  db: AccountDatabase;
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
    const open = (database: Bound): NamedDatabase => ({
      ...database,
      db: drizzle(guarded(databasesText(env), bound, database.d1)),
    });
    databases = [open(bound[0]), ...bound.slice(1).map(open)];
    databasesByEnv.set(env, databases);
  }
  return databases;
};

/** Returns the database that stores the account and everything that belongs to it. */
export const databaseOf = (env: Env, accountId: string): AccountDatabase =>
  chooseDatabase(accountDatabases(env), accountId).db;

export const firstDatabase = (env: Env): FirstDatabase => accountDatabases(env)[0].db as DrizzleD1Database;
