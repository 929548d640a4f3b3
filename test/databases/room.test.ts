import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { databaseOf } from '../../src/db/client.ts';
import { products } from '../../src/db/schema.ts';
import worker from '../../src/index.ts';
import { freshAddress, type Json, ORIGIN, PASSWORD } from '../support/client.ts';
import { firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';

// DATABASES is "DB, DB2@2020-01-01", so that new accounts belong in DB2.

const sized = (d1: D1Database, bytes: number): D1Database =>
  new Proxy(d1, {
    get: (target, property) => {
      if (property !== 'prepare') {
        const value: unknown = Reflect.get(target, property);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return (query: string) =>
        query === 'SELECT 1' ? { run: async () => ({ meta: { size_after: bytes } }) } : target.prepare(query);
    },
  });

const send = async (as: Env, path: string, init: { body?: object; token?: string } = {}) => {
  const request = new Request(ORIGIN + path, {
    method: init.body ? 'POST' : 'GET',
    headers: {
      'content-type': 'application/json',
      'cf-connecting-ip': freshAddress(),
      ...(init.token && { authorization: `Bearer ${init.token}` }),
    },
    ...(init.body && { body: JSON.stringify(init.body) }),
  });
  const response = await worker.fetch(request, as, createExecutionContext());
  return { status: response.status, body: (await response.json()) as Json };
};

const register = (as: Env) =>
  send(as, '/api/register', { body: { email: `${crypto.randomUUID()}@example.com`, password: PASSWORD } });

const isolateWith = (spelling: string, first: number, second: number) => ({
  ...env,
  DATABASES: env.DATABASES + spelling,
  DB: sized(env.DB, first),
  DB2: sized(env.DB2, second),
});

test('a database of 8 GB takes no new accounts: they go to the newest one that has room, and are found there', async () => {
  useFakeClock();
  const wait = vi.spyOn(scheduler, 'wait').mockImplementation(async (ms) => {
    vi.setSystemTime(Date.now() + ms);
  });
  const { status, body } = await register(isolateWith(' ', 1, 8_000_000_000));
  expect(status).toBe(201);
  // Every isolate has read the map by the time at which the account exists.
  expect(wait).toHaveBeenCalledWith(10_000);
  wait.mockRestore();
  const { id } = body.account;
  expect(await firstD1.prepare('SELECT id FROM accounts WHERE id = ?').bind(id).first('id')).toBe(id);

  const other = { ...env, DATABASES: `${env.DATABASES}  ` };
  const { token } = body.session;
  const created = await send(other, '/api/v1/licenses/create', { body: {}, token });
  expect(created.status).toBe(201);
  expect((await send(other, `/api/v1/licenses/${created.body.id}`, { token })).status).toBe(200);
  expect((await send({ ...env, DATABASES: `${env.DATABASES}   ` }, '/health')).body.checks.database).toBe(
    'ok',
  );
});

test('an isolate with an old map writes nothing of a new account into the database of its id', async () => {
  useFakeClock();
  const startMs = Date.now();
  const late = { ...env, DATABASES: `${env.DATABASES}     ` };
  await databaseOf(late, 'acct_x').select().from(products).limit(1);
  const wait = vi.spyOn(scheduler, 'wait').mockImplementation(async (ms) => {
    vi.setSystemTime(Date.now() + ms);
  });
  const { body } = await register(isolateWith('      ', 1, 8_000_000_000));
  wait.mockRestore();
  // Its clock stands still, so it takes what it has read of the map for new.
  vi.setSystemTime(startMs);
  const { id: accountId } = body.account;
  const product = { accountId, code: 'late', name: 'Late', terms: {}, createdAt: 1, updatedAt: 1 };
  await expect(databaseOf(late, accountId).insert(products).values(product)).rejects.toThrow('Failed query');
});

test('a service without room registers nobody, and its log says so', async () => {
  const log = vi.spyOn(console, 'error').mockReturnValue();
  const { status, body } = await register(isolateWith('    ', 8_000_000_000, 8_000_000_000));
  const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)));
  log.mockRestore();
  expect([status, body.error.message]).toEqual([
    503,
    'The service has no room for new accounts at the moment.',
  ]);
  expect(lines.map(({ event }: Json) => event)).toContain('databases_closed');
});
