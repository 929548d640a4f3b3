import { env } from 'cloudflare:workers';
import { databaseOf, firstDatabase } from '../../src/db/client.ts';
import type { Ctx, PublicCtx } from '../../src/db/ctx.ts';
import { SYSTEM } from '../../src/shared/rules/audit.ts';

const FIRST_TABLES = [
  'users',
  'sessions',
  'throttles',
  'user_tokens',
  'known_browsers',
  'recovery_codes',
  'held_notices',
  'portals',
];

/** Has the users, sessions and throttles. */
export const firstD1: D1Database = env.DB;

/** Has everything that belongs to the tests' accounts. */
export const accountsD1: D1Database = env.DB2;

/** For operations that don't need an account. */
export const publicCtx: PublicCtx = { env, firstDb: firstDatabase(env), ip: null, waitUntil: () => {} };

/** For operations on an account. */
export const ctxOf = (accountId: string): Ctx => ({
  env,
  db: databaseOf(env, accountId),
  accountId,
  key: null,
  actor: SYSTEM,
  ip: null,
});

/** The database in which the service keeps a table's rows. */
export const d1Of = (table: string) => (FIRST_TABLES.includes(table) ? firstD1 : accountsD1);
