import {
  abortAllDurableObjects,
  createExecutionContext,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import worker from '../../src/index.ts';
import { type Customer, ORIGIN, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { ALL_TABLES, evict, gate, kill, readGate, statistics, withoutTables } from '../support/gate.ts';
import { sellerWithLicense, sellerWithWebhook } from '../support/worlds.ts';

/** The gate namespace, except that a commit's last call to the gate fails, as if the request had died before it. */
const failingApply = (): Env['GATE'] =>
  new Proxy(env.GATE, {
    get: (namespace, property) =>
      property === 'getByName'
        ? (name: string) =>
            new Proxy(namespace.getByName(name), {
              get: (stub, method) =>
                method === 'apply' || method === 'pull'
                  ? () => Promise.reject(new Error('The request died.'))
                  : Reflect.get(stub, method),
            })
        : Reflect.get(namespace, property),
  });

/** Commits a change to D1 without a pull, as when the request dies after its commit. */
const changeWithoutPull = async (
  { token }: Customer,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = { authorization: `Bearer ${token}` },
) => {
  const request = new Request(ORIGIN + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const response = await worker.fetch(request, { ...env, GATE: failingApply() }, createExecutionContext());
  expect(response.status).toBe(503);
  await response.body?.cancel();
};

const countFeedRows = async (accountId: string) =>
  (await accountsD1
    .prepare('SELECT count(*) AS n FROM feed WHERE account_id = ?')
    .bind(accountId)
    .first('n')) as number;

test('the alarm applies, in order, the changes of requests that died after their commit', async () => {
  useFakeClock();
  const { ada, id, license_key } = await sellerWithLicense();
  expect((await ada.verify(license_key)).body.status).toBe('active');
  await gate(ada.accountId).pull();

  await changeWithoutPull(ada, 'POST', `/api/v1/licenses/${id}/suspend`);
  await changeWithoutPull(ada, 'POST', `/api/v1/licenses/${id}/reinstate`);
  await changeWithoutPull(ada, 'POST', `/api/v1/licenses/${id}/revoke`);
  await changeWithoutPull(ada, 'POST', '/api/v1/licenses/create', { license_key: 'LATE-KEY-0001' });
  await changeWithoutPull(ada, 'DELETE', `/api/api-keys/${ada.apiKeyId}`);
  expect((await ada.verify(license_key)).body.status).toBe('active');
  // A change of a license writes two feed rows, the license and its event, and the last applied row stays.
  expect(await countFeedRows(ada.accountId)).toBe(10);

  expect(await runDurableObjectAlarm(gate(ada.accountId))).toBe(true);
  expect((await ada.verify(license_key)).status).toBe(403);
  const newKey = (await ada.asSession('POST', '/api/create-api-key', {})).body.api_key;
  expect((await ada.verify(license_key, newKey)).body.status).toBe('revoked');
  expect((await ada.verify('LATE-KEY-0001', newKey)).body.status).toBe('active');
});

test('the alarm works in a restarted gate before any call reaches it', async () => {
  useFakeClock();
  const { ada, id, license_key } = await sellerWithLicense();
  await changeWithoutPull(ada, 'POST', `/api/v1/licenses/${id}/suspend`);
  await abortAllDurableObjects();
  expect(await runDurableObjectAlarm(gate(ada.accountId))).toBe(true);
  expect((await ada.verify(license_key)).body.status).toBe('suspended');
});

test('the alarm runs within seconds after a commit without a pull', async () => {
  const { ada, id, license_key } = await sellerWithLicense();
  await changeWithoutPull(ada, 'POST', `/api/v1/licenses/${id}/suspend`);
  await expect
    .poll(async () => (await ada.verify(license_key)).body.status, { interval: 300 })
    .toBe('suspended');
});

test('the alarm runs again after it failed because D1 was down', async () => {
  useFakeClock();
  const { ada, id, license_key } = await sellerWithLicense();
  await changeWithoutPull(ada, 'POST', `/api/v1/licenses/${id}/suspend`);
  await withoutTables(['feed'], async () => {
    expect(await runDurableObjectAlarm(gate(ada.accountId))).toBe(true);
    expect((await ada.verify(license_key)).body.status).toBe('active');
  });
  vi.advanceTimersByTime(2_000);
  expect(await runDurableObjectAlarm(gate(ada.accountId))).toBe(true);
  expect((await ada.verify(license_key)).body.status).toBe('suspended');
});

test('a change that fails in D1 answers 503 and has no partial effect', async () => {
  const { ada, id, license_key } = await sellerWithLicense();
  const before = await statistics(ada.accountId);
  const answers = await withoutTables(['feed'], () =>
    Promise.all([
      ada.asSession('POST', `/api/v1/licenses/${id}/suspend`),
      ada.asKey(
        'POST',
        '/api/v1/licenses/create',
        { license_key: 'RETRIED-KEY' },
        { 'idempotency-key': 'once' },
      ),
      ada.asSession('DELETE', `/api/api-keys/${ada.apiKeyId}`),
    ]),
  );
  for (const { status, body } of answers) {
    expect(status).toBe(503);
    expect(body.error.code).toBe('unavailable');
  }
  expect((await ada.verify(license_key)).body.status).toBe('active');
  expect((await ada.verify('RETRIED-KEY')).body.status).toBe('not_found');
  expect((await ada.asSession('GET', `/api/v1/licenses/${id}`)).body.status).toBe('active');
  expect((await statistics(ada.accountId)).apiUsage).toBe(before.apiUsage + 1);
  const retried = await ada.asKey(
    'POST',
    '/api/v1/licenses/create',
    { license_key: 'RETRIED-KEY' },
    { 'idempotency-key': 'once' },
  );
  expect(retried.status).toBe(201);
});

test('a create that was committed counts once, although it answered 503 and was retried', async () => {
  const ada = await signUp();
  const order = { license_key: 'COMMITTED-KEY' };
  const once = { 'idempotency-key': 'once' };
  const headers = { 'x-api-key': ada.apiKey, ...once };
  await changeWithoutPull(ada, 'POST', '/api/v1/licenses/create', order, headers);
  expect((await statistics(ada.accountId)).apiUsage).toBe(1);
  expect((await ada.asKey('POST', '/api/v1/licenses/create', order, once)).status).toBe(201);
  expect((await statistics(ada.accountId)).apiUsage).toBe(1);
});

test('a renewal that was committed is made once, although it answered 503 and was retried', async () => {
  const { ada, id } = await sellerWithLicense({ expires_at: '2099-01-01' });
  const path = `/api/v1/licenses/${id}/renew`;
  const [sent, once] = [{ duration_days: 365 }, { 'idempotency-key': 'invoice-7' }];
  await changeWithoutPull(ada, 'POST', path, sent, { 'x-api-key': ada.apiKey, ...once });
  const { status, body } = await ada.asKey('POST', path, sent, once);
  expect([status, body.expires_at]).toEqual([200, '2100-01-01']);
});

test('a repeat of a create whose pull failed answers 201 once every verify sees the license', async () => {
  useFakeClock();
  const ada = await signUp();
  const order = { license_key: 'REPEATED-KEY' };
  const once = { 'idempotency-key': 'once' };
  await ada.verify('AAAAAAAA');
  await changeWithoutPull(ada, 'POST', '/api/v1/licenses/create', order, {
    'x-api-key': ada.apiKey,
    ...once,
  });
  expect((await ada.verify('REPEATED-KEY')).body.status).toBe('not_found');
  expect((await ada.asKey('POST', '/api/v1/licenses/create', order, once)).status).toBe(201);
  expect((await ada.verify('REPEATED-KEY')).body.status).toBe('active');
});

test('verify keeps answering and counting while D1 is down, even after an eviction', async () => {
  const { ada, license_key } = await sellerWithLicense();
  await withoutTables(ALL_TABLES, async () => {
    expect((await ada.verify(license_key)).body).toMatchObject({ valid: true, api_usage: 1 });
    await evict(ada.accountId);
    expect((await ada.verify(license_key)).body).toMatchObject({ valid: true, api_usage: 2 });
    expect((await ada.verify('UNKNOWN-KEY')).body).toMatchObject({ status: 'not_found', api_usage: 2 });
    expect((await ada.asSession('GET', '/api/dashboard')).status).toBe(503);
    expect((await ada.asKey('GET', '/api/v1/licenses')).status).toBe(503);
  });
});

test('a gate killed during calls answers 200 or 503, never 500', async () => {
  const { ada, license_key } = await sellerWithLicense();
  const calls = Promise.all(Array.from({ length: 15 }, () => ada.verify(license_key)));
  await kill(ada.accountId);
  const answers = await calls;
  expect(answers.some(({ status }) => status === 503)).toBe(true);
  for (const { status, body } of answers) {
    expect([200, 503], JSON.stringify(body)).toContain(status);
  }
  expect((await ada.verify(license_key)).status).toBe(200);
});

test('a pull deletes the feed rows that the gate has applied, except the last one', async () => {
  const ada = await signUp();
  await ada.createLicense();
  await gate(ada.accountId).pull();
  expect(await countFeedRows(ada.accountId)).toBe(1);
  const [{ n } = { n: 0 }] = await readGate<{ n: number }>(
    ada.accountId,
    'SELECT count(*) AS n FROM licenses',
  );
  expect(n).toBe(1);
});

test('a change that the gate fails to store still takes effect, and its event is sent', async () => {
  const { ada, receiver } = await sellerWithWebhook({ events: ['license.created'] });
  await ada.createLicense();
  await receiver.receives(1);
  await runInDurableObject(gate(ada.accountId), (_instance, { storage }) => {
    const transact = storage.transactionSync.bind(storage);
    const isApplied = () =>
      storage.sql.exec("SELECT 1 FROM licenses WHERE license_key = 'STORED-LATER'").toArray().length > 0;
    vi.spyOn(storage, 'transactionSync').mockImplementation((work) =>
      transact(() => {
        const result = work();
        if (isApplied()) throw new Error('The disk is full.');
        return result;
      }),
    );
  });

  expect((await ada.createLicense({ license_key: 'STORED-LATER' })).license_key).toBe('STORED-LATER');
  expect((await ada.verify('STORED-LATER')).body.status).toBe('active');
  expect(JSON.parse((await receiver.receives(2))[1]?.body ?? '').license_key).toBe('STORED-LATER');
});

test('a create counts on the day on which it was announced, also if its license is deleted before the gate saw it', async () => {
  useFakeClock(Date.UTC(2026, 10, 30, 23, 59, 59));
  const ada = await signUp();
  const byKey = { 'x-api-key': ada.apiKey };
  await changeWithoutPull(ada, 'POST', '/api/v1/licenses/create', {}, byKey);
  const [{ id }] = (await ada.asSession('GET', '/api/v1/licenses')).body.data;
  await changeWithoutPull(ada, 'DELETE', `/api/v1/licenses/${id}`);
  vi.setSystemTime(Date.UTC(2026, 11, 1));
  await runDurableObjectAlarm(gate(ada.accountId));
  vi.setSystemTime(Date.UTC(2026, 11, 1, 1));
  await runDurableObjectAlarm(gate(ada.accountId));
  const { apiUsage, days } = await gate(ada.accountId).statistics('2026-11-01');
  expect([apiUsage, days]).toEqual([0, [{ date: '2026-11-30', verify: 0, create: 1 }]]);
});
