import { abortAllDurableObjects, createExecutionContext, runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import worker from '../../src/index.ts';
import { type Customer, ORIGIN, signUp } from '../support/client.ts';
import { ALL_TABLES, evict, gate, kill, readGate, statistics, withoutTables } from '../support/gate.ts';

/** The namespace as it is, except that a caller dies (or so it looks from the gate) instead of saying `pull`. */
const dyingBeforePull = (): Env['GATE'] =>
  new Proxy(env.GATE, {
    get: (namespace, property) =>
      property === 'getByName'
        ? (name: string) =>
            new Proxy(namespace.getByName(name), {
              get: (stub, method) =>
                method === 'pull'
                  ? () => Promise.reject(new Error('The process died.'))
                  : Reflect.get(stub, method),
            })
        : Reflect.get(namespace, property),
  });

/** A change that is committed to D1 and whose author then dies. */
const changeAndDie = async (customer: Customer, method: string, path: string, body?: unknown) => {
  const request = new Request(ORIGIN + path, {
    method,
    headers: { authorization: `Bearer ${customer.token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const response = await worker.fetch(request, { ...env, GATE: dyingBeforePull() }, createExecutionContext());
  expect(response.status).toBe(503);
  await response.body?.cancel();
};

const unread = async (accountId: string) =>
  (await env.DB.prepare('SELECT count(*) AS n FROM feed WHERE account_id = ?')
    .bind(accountId)
    .first('n')) as number;

test('changes whose author died after the commit are made good by the alarm, in their order', async () => {
  const ada = await signUp();
  const { id, license_key } = await ada.createLicense();
  expect((await ada.verify(license_key)).body.status).toBe('active');
  await gate(ada.accountId).pull();

  await changeAndDie(ada, 'POST', `/api/v1/licenses/${id}/suspend`);
  await changeAndDie(ada, 'POST', `/api/v1/licenses/${id}/reinstate`);
  await changeAndDie(ada, 'POST', `/api/v1/licenses/${id}/revoke`);
  await changeAndDie(ada, 'POST', '/api/v1/licenses/create', { license_key: 'BORN-IN-THE-STORM' });
  await changeAndDie(ada, 'DELETE', `/api/api-keys/${ada.apiKeyId}`);
  expect((await ada.verify(license_key)).body.status).toBe('active');
  // A create is two: the license and its event.
  expect(await unread(ada.accountId)).toBe(6);

  expect(await runDurableObjectAlarm(gate(ada.accountId))).toBe(true);
  expect((await ada.verify(license_key)).status).toBe(403);
  const other = (await ada.asSession('POST', '/api/create-api-key', {})).body.api_key;
  expect((await ada.verify(license_key, other)).body.status).toBe('revoked');
  expect((await ada.verify('BORN-IN-THE-STORM', other)).body.status).toBe('active');
});

test('the alarm finds its account in a gate that nobody has called since it was restarted', async () => {
  const ada = await signUp();
  const { id, license_key } = await ada.createLicense();
  await changeAndDie(ada, 'POST', `/api/v1/licenses/${id}/suspend`);
  await abortAllDurableObjects();
  expect(await runDurableObjectAlarm(gate(ada.accountId))).toBe(true);
  expect((await ada.verify(license_key)).body.status).toBe('suspended');
});

test('the alarm comes by itself within seconds', { timeout: 20_000 }, async () => {
  const ada = await signUp();
  const { id, license_key } = await ada.createLicense();
  await changeAndDie(ada, 'POST', `/api/v1/licenses/${id}/suspend`);
  await expect
    .poll(async () => (await ada.verify(license_key)).body.status, { timeout: 10_000, interval: 300 })
    .toBe('suspended');
});

test('an alarm that finds D1 down comes again', async () => {
  const ada = await signUp();
  const { id, license_key } = await ada.createLicense();
  await changeAndDie(ada, 'POST', `/api/v1/licenses/${id}/suspend`);
  await withoutTables(['feed'], async () => {
    expect(await runDurableObjectAlarm(gate(ada.accountId))).toBe(true);
    expect((await ada.verify(license_key)).body.status).toBe('active');
  });
  expect(await runDurableObjectAlarm(gate(ada.accountId))).toBe(true);
  expect((await ada.verify(license_key)).body.status).toBe('suspended');
});

test('when D1 fails in the middle of a change the answer is 503 and nothing is half done', async () => {
  const ada = await signUp();
  const { id, license_key } = await ada.createLicense();
  const before = await statistics(ada.accountId);
  const answers = await withoutTables(['feed'], () =>
    Promise.all([
      ada.asSession('POST', `/api/v1/licenses/${id}/suspend`),
      ada.asKey(
        'POST',
        '/api/v1/licenses/create',
        { license_key: 'HALF-BORN' },
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
  expect((await ada.verify('HALF-BORN')).body.status).toBe('not_found');
  expect((await ada.asSession('GET', `/api/v1/licenses/${id}`)).body.status).toBe('active');
  expect((await statistics(ada.accountId)).apiUsage).toBe(before.apiUsage + 2);
  const retried = await ada.asKey(
    'POST',
    '/api/v1/licenses/create',
    { license_key: 'HALF-BORN' },
    { 'idempotency-key': 'once' },
  );
  expect(retried.status).toBe(201);
});

test('with D1 down altogether verify goes on answering and counting, also after an eviction', async () => {
  const ada = await signUp();
  const { license_key } = await ada.createLicense();
  await withoutTables(ALL_TABLES, async () => {
    expect((await ada.verify(license_key)).body).toMatchObject({ valid: true, api_usage: 1 });
    await evict(ada.accountId);
    expect((await ada.verify(license_key)).body).toMatchObject({ valid: true, api_usage: 2 });
    expect((await ada.verify('unknown-key')).body).toMatchObject({ status: 'not_found', api_usage: 3 });
    expect((await ada.asSession('GET', '/api/dashboard')).status).toBe(503);
    expect((await ada.asKey('GET', '/api/v1/licenses')).status).toBe(503);
  });
});

test('a gate torn down in mid-call answers 503 and not a fault of ours', async () => {
  const ada = await signUp();
  const { license_key } = await ada.createLicense();
  const calls = Promise.all(Array.from({ length: 15 }, () => ada.verify(license_key)));
  await kill(ada.accountId);
  const answers = await calls;
  expect(answers.some(({ status }) => status === 503)).toBe(true);
  for (const { status, body } of answers) {
    expect([200, 503], JSON.stringify(body)).toContain(status);
  }
  expect((await ada.verify(license_key)).status).toBe(200);
});

test('the feed is empty once its changes are applied and the gate has looked again', async () => {
  const ada = await signUp();
  await ada.createLicense();
  await gate(ada.accountId).pull();
  expect(await unread(ada.accountId)).toBe(0);
  const [{ n } = { n: 0 }] = await readGate<{ n: number }>(
    ada.accountId,
    'SELECT count(*) AS n FROM licenses',
  );
  expect(n).toBe(1);
});
