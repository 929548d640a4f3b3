import {
  createExecutionContext,
  createMessageBatch,
  evictDurableObject,
  getQueueResult,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import worker from '../../src/index.ts';
import { outboxOf } from '../../src/shared/objects/address.ts';
import type { QueueMessage } from '../../src/system/consume.ts';
import type { Hint } from '../../src/webhooks/jobs.ts';
import { LEASE_MS } from '../../src/webhooks/lanes.ts';
import type { Customer, Json } from './client.ts';

export const outbox = (accountId: string) => outboxOf(env, accountId);

export const evictOutbox = (accountId: string) => evictDurableObject(outbox(accountId));

/** Kills the outbox: aborts running calls and drops everything that is not on disk. */
export const killOutbox = (accountId: string) =>
  runInDurableObject(outbox(accountId), (_instance, state) => state.abort('killed by a test')).catch(
    () => {},
  );

export const runOutboxAlarm = (accountId: string) => runDurableObjectAlarm(outbox(accountId));

/** Returns the milliseconds until the outbox's alarm, or null if none is set. */
export const msUntilAlarm = (accountId: string): Promise<number | null> =>
  runInDurableObject(outbox(accountId), async (_instance, state) => {
    const atMs = await state.storage.getAlarm();
    return atMs === null ? null : atMs - Date.now();
  });

export const readOutbox = <T extends Record<string, SqlStorageValue>>(accountId: string, query: string) =>
  runInDurableObject(outbox(accountId), (_instance, state) => state.storage.sql.exec<T>(query).toArray());

/** Renames a table of the outbox while `work` runs, so that every query that needs it throws. */
export const withoutTable = async <T>(
  accountId: string,
  table: string,
  work: () => Promise<T>,
): Promise<T> => {
  await readOutbox(accountId, `ALTER TABLE ${table} RENAME TO ${table}_gone`);
  try {
    return await work();
  } finally {
    await readOutbox(accountId, `ALTER TABLE ${table}_gone RENAME TO ${table}`);
  }
};

/** Runs `work` while no row of a table of the outbox can be changed. */
export const withFullTable = async (
  accountId: string,
  table: string,
  work: () => Promise<void>,
): Promise<void> => {
  const refusal = `CREATE TRIGGER refusal BEFORE UPDATE ON ${table} BEGIN SELECT raise(ABORT, 'full'); END`;
  await readOutbox(accountId, refusal);
  await work();
  await readOutbox(accountId, 'DROP TRIGGER refusal');
};

/** Runs SQL in the outbox's storage and evicts the outbox, so that it reads the result. */
export const tamperOutbox = async (accountId: string, query: string, ...bindings: SqlStorageValue[]) => {
  await runInDurableObject(outbox(accountId), (_instance, state) => {
    state.storage.sql.exec(query, ...bindings);
  });
  await evictOutbox(accountId);
};

/** Returns the events in the outbox's blocks. */
export const readEvents = (accountId: string) =>
  readOutbox<{ id: string; name: string }>(
    accountId,
    "SELECT value ->> 'id' AS id, value ->> 'name' AS name FROM event_blocks, json_each(events)",
  );

/** Moves the clock to the end of a lease that begins now. */
export const expireLeases = () => vi.setSystemTime(Date.now() + LEASE_MS);

/** Drops all queue messages, so that only the test runs the consumer. */
export const loseHints = () => {
  // The outbox's environment shares this prototype with the test's.
  const prototype = Object.getPrototypeOf(env.WEBHOOKS) as Env['WEBHOOKS'];
  const sends = vi.spyOn(prototype, 'send').mockResolvedValue({} as Awaited<ReturnType<Queue['send']>>);
  return { sends, stop: () => sends.mockRestore() };
};

let messages = 0;

/** Passes messages to the consumer and returns the queue's result after all background work. */
export const consume = async (
  hints: QueueMessage | QueueMessage[],
  environment: Env = env,
  queue = 'latchkey-webhooks',
) => {
  const received = [hints].flat().map((body) => ({
    id: `message-${++messages}`,
    timestamp: new Date(),
    attempts: 1,
    body,
  }));
  const batch = createMessageBatch<QueueMessage>(queue, received);
  const ctx = createExecutionContext();
  await worker.queue(batch, environment, ctx);
  return getQueueResult(batch, ctx);
};

/** Returns the environment with one method of the outbox replaced. */
export const withOutboxMethod = (
  method: string,
  replaced: (original: (...args: unknown[]) => Promise<unknown>, args: unknown[]) => Promise<unknown>,
): Env => ({
  ...env,
  OUTBOX: new Proxy(env.OUTBOX, {
    get: (namespace, property) =>
      property === 'getByName'
        ? (name: string) =>
            new Proxy(namespace.getByName(name), {
              get: (stub, name_) => {
                const original = Reflect.get(stub, name_) as (...args: unknown[]) => Promise<unknown>;
                return name_ === method ? (...args: unknown[]) => replaced(original, args) : original;
              },
            })
        : Reflect.get(namespace, property),
  }),
});

/** Adds a webhook endpoint and returns helpers to inspect it. */
export const addEndpoint = async (customer: Customer, url: string, fields: Record<string, unknown> = {}) => {
  const { status, body } = await customer.asSession('POST', '/api/webhooks', { url, ...fields });
  if (status !== 201) throw new Error(`POST /api/webhooks answered ${status}: ${JSON.stringify(body)}`);
  const id: string = body.id;
  const path = `/api/webhooks/${id}`;
  return {
    id,
    path,
    secret: body.secret as string,
    hint: { account_id: customer.accountId, endpoint_id: id } satisfies Hint,
    read: async (): Promise<Json> =>
      (await customer.asSession('GET', '/api/webhooks')).body.data.find((shown: Json) => shown.id === id),
    /** Newest first. */
    deliveries: async (): Promise<Json[]> =>
      (await customer.asSession('GET', `${path}/deliveries`)).body.data,
  };
};
