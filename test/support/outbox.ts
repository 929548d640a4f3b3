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
import type { Hint } from '../../src/webhooks/jobs.ts';
import { outboxOf } from '../../src/shared/objects.ts';
import type { Customer, Json } from './client.ts';

export const outbox = (accountId: string) => outboxOf(env, accountId);

export const evictOutbox = (accountId: string) => evictDurableObject(outbox(accountId));

/** Kills the outbox as it stands: calls under way are cut off, what was not on disk is gone. */
export const killOutbox = (accountId: string) =>
  runInDurableObject(outbox(accountId), (_instance, state) => state.abort('killed by a test')).catch(
    () => {},
  );

export const ring = (accountId: string) => runDurableObjectAlarm(outbox(accountId));

/** In how many milliseconds the outbox wakes up, or null. */
export const wakesInMs = (accountId: string): Promise<number | null> =>
  runInDurableObject(outbox(accountId), async (_instance, state) => {
    const atMs = await state.storage.getAlarm();
    return atMs === null ? null : atMs - Date.now();
  });

export const readOutbox = <T extends Record<string, SqlStorageValue>>(accountId: string, query: string) =>
  runInDurableObject(outbox(accountId), (_instance, state) => state.storage.sql.exec<T>(query).toArray());

/** Takes a table of the outbox away while `work` runs, so that whatever needs it throws. */
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

/** Runs SQL in the outbox's own storage; what the outbox has in memory is forgotten. */
export const tamperOutbox = async (accountId: string, query: string, ...bindings: SqlStorageValue[]) => {
  await runInDurableObject(outbox(accountId), (_instance, state) => {
    state.storage.sql.exec(query, ...bindings);
  });
  await evictOutbox(accountId);
};

/** Moves the clock to where every consumer that has not settled by then is given up. */
export const expireLeases = async (accountId: string) => {
  const [{ at } = { at: null }] = await readOutbox<{ at: number | null }>(
    accountId,
    "SELECT max(due_at_ms) AS at FROM deliveries WHERE status = 'pending' AND lease IS NOT NULL",
  );
  if (at !== null) vi.setSystemTime(at);
};

/** From now on every message to the queue vanishes, so that a test alone says when the consumer runs. */
export const loseHints = () => {
  // The queue's own class, which the outbox's environment shares with the test's.
  const prototype = Object.getPrototypeOf(env.WEBHOOKS) as Env['WEBHOOKS'];
  const sends = vi.spyOn(prototype, 'send').mockResolvedValue({} as Awaited<ReturnType<Queue['send']>>);
  return { sends, stop: () => sends.mockRestore() };
};

let messages = 0;

/** One message to the consumer, and what it says of it once everything it began is done. */
export const consume = async (hint: Hint, environment: Env = env, queue = 'latchkey-webhooks') => {
  const message = { id: `message-${++messages}`, timestamp: new Date(), attempts: 1, body: hint };
  const batch = createMessageBatch<Hint>(queue, [message]);
  const ctx = createExecutionContext();
  await worker.queue(batch, environment, ctx);
  return getQueueResult(batch, ctx);
};

/** The environment as it is, but for one method of the outbox. */
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

/** Reads until it is so. Unlike `expect.poll`, it leaves a fake clock alone. */
export const until = async <T>(
  read: () => Promise<T>,
  isSo: (value: T) => boolean,
  patienceMs = 10_000,
): Promise<T> => {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const value = await read();
    if (isSo(value)) return value;
    if (performance.now() > endMs) throw new Error(`It is still ${JSON.stringify(value)?.slice(0, 1_000)}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

/** An endpoint of the account, and what a test wants to know of it. */
export const addEndpoint = async (customer: Customer, url: string, fields: Record<string, unknown> = {}) => {
  const { status, body } = await customer.asSession('POST', '/api/webhooks', { url, ...fields });
  if (status !== 201) throw new Error(`The webhook was answered ${JSON.stringify(body)}`);
  const id: string = body.id;
  const path = `/api/webhooks/${id}`;
  return {
    id,
    path,
    secret: body.secret as string,
    hint: { account_id: customer.accountId, endpoint_id: id } satisfies Hint,
    look: async (): Promise<Json> => (await customer.asSession('GET', path)).body,
    /** Newest first. */
    deliveries: async (): Promise<Json[]> =>
      (await customer.asSession('GET', `${path}/deliveries`)).body.data,
  };
};
