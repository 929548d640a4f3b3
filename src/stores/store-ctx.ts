import { databaseOf } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import type { StoreRow } from '../db/schema.ts';

/** The context of what a store does to its account. */
export const storeCtx = (env: Env, { accountId, id }: Pick<StoreRow, 'accountId' | 'id'>): Ctx => ({
  env,
  db: databaseOf(env, accountId),
  accountId,
  key: null,
  actor: { kind: 'store', id },
  ip: null,
});
