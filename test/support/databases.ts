import { env } from 'cloudflare:workers';
import { databaseOf, firstDatabase } from '../../src/db/client.ts';
import type { Ctx, PublicCtx } from '../../src/db/ctx.ts';

/** Has the users, sessions and throttles. */
export const firstD1: D1Database = env.DB;

/** Has everything that belongs to the tests' accounts. */
export const accountsD1: D1Database = env.DB;

/** For operations that don't need an account. */
export const publicCtx: PublicCtx = { env, firstDb: firstDatabase(env) };

/** For operations on an account. */
export const ctxOf = (accountId: string): Ctx => ({
  env,
  db: databaseOf(env, accountId),
  accountId,
  key: null,
});
