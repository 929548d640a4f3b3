import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { database } from '../../src/db/client.ts';
import { accounts } from '../../src/db/schema.ts';
import { commit } from '../../src/gate/feed.ts';
import { gateOf } from '../../src/shared/objects.ts';
import { isoDate } from '../../src/shared/rules/dates.ts';
import type { PlanName } from '../../src/shared/rules/plans.ts';

export const gate = (accountId: string) => gateOf(env, accountId);

/** Kills the gate as it stands: calls under way are cut off, what was not on disk is gone. */
export const kill = (accountId: string) =>
  runInDurableObject(gate(accountId), (_instance, state) => state.abort('killed by a test')).catch(() => {});

/** What the gate has counted, and not what anybody was told. */
export const statistics = (accountId: string) => gate(accountId).statistics(isoDate(Date.now()));

export const evict = (accountId: string) => evictDurableObject(gate(accountId));

/** Runs SQL in the gate's own storage; what the gate has in memory is forgotten. */
export const tamper = async (accountId: string, query: string, ...bindings: SqlStorageValue[]) => {
  await runInDurableObject(gate(accountId), (_instance, state) => {
    state.storage.sql.exec(query, ...bindings);
  });
  await evict(accountId);
};

export const readGate = <T extends Record<string, SqlStorageValue>>(accountId: string, query: string) =>
  runInDurableObject(gate(accountId), (_instance, state) => state.storage.sql.exec<T>(query).toArray());

/** As billing would: a change of the account's row that its gate is told of. */
export const setPlan = async (accountId: string, plan: PlanName) => {
  const db = database(env);
  await commit(
    { env, db, accountId, key: null },
    [db.update(accounts).set({ plan }).where(eq(accounts.id, accountId))],
    [{ kind: 'account', ref: accountId }],
  );
};

/** Takes tables of D1 away while `work` runs: every query that needs one fails as in an outage. */
export const withoutTables = async <T>(tables: string[], work: () => Promise<T>): Promise<T> => {
  const rename = (from: string, to: string) => env.DB.prepare(`ALTER TABLE ${from} RENAME TO ${to}`).run();
  for (const table of tables) await rename(table, `${table}_gone`);
  try {
    return await work();
  } finally {
    for (const table of tables) await rename(`${table}_gone`, table);
  }
};

export const ALL_TABLES = ['accounts', 'api_keys', 'feed', 'idempotency_keys', 'licenses', 'sessions'];
