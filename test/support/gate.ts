import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { accounts } from '../../src/db/schema.ts';
import type { CopiedAccount, CopiedKey } from '../../src/gate/rules/rows.ts';
import { calendarMonth } from '../../src/gate/rules/usage.ts';
import { commit } from '../../src/gate/worker/commit.ts';
import { gateOf } from '../../src/shared/objects/address.ts';
import { isoDate } from '../../src/shared/rules/dates.ts';
import type { PlanName } from '../../src/shared/rules/plans.ts';
import type { WebhookEvent } from '../../src/shared/text/events.ts';
import { ctxOf, d1Of } from './databases.ts';

/** A copied account and API key, as a test of the rules needs them. */
export const COPIED_ACCOUNT: CopiedAccount = {
  email: 'ada@example.com',
  plan: 'free',
  periodStart: null,
  periodEnd: null,
  planUntil: null,
  grantedPlan: null,
  grantedUntil: null,
  homeRegion: null,
  isUnverified: false,
  suspendedAt: null,
  eraseAt: null,
  own: null,
};
export const COPIED_KEY: CopiedKey = {
  fingerprint: 'f',
  scope: 'full',
  expiresAt: null,
  allowedIps: null,
  deleted: false,
};

export const gate = (accountId: string) => gateOf(env, accountId);

/** Kills the gate: aborts running calls and drops everything that is not on disk. */
export const kill = (accountId: string) =>
  runInDurableObject(gate(accountId), (_instance, state) => state.abort('killed by a test')).catch(() => {});

/** Returns the gate's own counts. */
export const statistics = (accountId: string) => gate(accountId).statistics(isoDate(Date.now()));

export const evict = (accountId: string) => evictDurableObject(gate(accountId));

/** Runs SQL in the gate's storage and evicts the gate, so that it reads the result. */
export const tamper = async (accountId: string, query: string, ...bindings: SqlStorageValue[]) => {
  await runInDurableObject(gate(accountId), (_instance, state) => {
    state.storage.sql.exec(query, ...bindings);
  });
  await evict(accountId);
};

/** Makes the gate's copy look as if it were of another epoch, as after an operator raises it. Its next call begins a reload. */
export const raiseEpoch = (accountId: string) =>
  tamper(accountId, "UPDATE facts SET value = json_set(value, '$.epoch', 'before') WHERE name = 'progress'");

/** Makes the account have made so many changes today. */
export const setChangesToday = async (accountId: string, changes: number) => {
  const today = { token: '', atMs: Date.now(), ref: '', reservation: null, changes };
  await runInDurableObject(gate(accountId), (_instance, { storage }) => {
    storage.kv.put('announced', [today]);
  });
  await evict(accountId);
};

/** Sets the account's usage of the calendar month. */
export const setUsage = async (accountId: string, usage: number) => {
  const name = `period:${calendarMonth(Date.now()).startMs}`;
  await tamper(
    accountId,
    'DELETE FROM recent_counters; INSERT OR REPLACE INTO counters VALUES (?, ?, 0)',
    name,
    usage,
  );
};

export const readGate = <T extends Record<string, SqlStorageValue>>(accountId: string, query: string) =>
  runInDurableObject(gate(accountId), (_instance, state) => state.storage.sql.exec<T>(query).toArray());

/** Events that the gate stores. Few events stay until its next commit or alarm after they were forwarded. */
export const storedEvents = async (accountId: string): Promise<WebhookEvent[]> => {
  const kept = "SELECT events FROM recent_counters WHERE events <> ''";
  const rows = await readGate<{ events: string }>(accountId, `SELECT events FROM outgoing UNION ALL ${kept}`);
  return rows.flatMap(({ events }) => JSON.parse(events) as WebhookEvent[]);
};

/** Returns how many rows `work` writes. */
export const countRows = (sql: SqlStorage, work: () => void) => {
  const exec = sql.exec.bind(sql);
  let rows = 0;
  Object.assign(sql, {
    exec: (query: string, ...bindings: unknown[]) => {
      const cursor = exec(query, ...bindings);
      rows += cursor.rowsWritten;
      return cursor;
    },
  });
  work();
  return rows;
};

/** Changes the account's plan as billing does, with a feed row for the gate. */
export const setPlan = async (
  accountId: string,
  plan: PlanName,
  period: { periodStart?: number; periodEnd?: number } = {},
) => {
  const ctx = ctxOf(accountId);
  await commit(
    ctx,
    [
      ctx.db
        .update(accounts)
        .set({ plan, ...period })
        .where(eq(accounts.id, accountId)),
    ],
    [{ kind: 'account', ref: accountId }],
  );
};

/** Renames D1 tables while `work` runs, so that every query that needs them fails as in an outage. */
export const withoutTables = async <T>(tables: string[], work: () => Promise<T>): Promise<T> => {
  const rename = (d1: D1Database, from: string, to: string) =>
    d1.prepare(`ALTER TABLE ${from} RENAME TO ${to}`).run();
  for (const table of tables) await rename(d1Of(table), table, `${table}_gone`);
  try {
    return await work();
  } finally {
    for (const table of tables) await rename(d1Of(table), `${table}_gone`, table);
  }
};

export const ALL_TABLES = [
  'accounts',
  'api_keys',
  'feed',
  'idempotency_keys',
  'licenses',
  'sessions',
  'users',
];
