import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import worker from '../../src/index.ts';
import { call, ORIGIN, register, signUp } from '../support/client.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { withoutTables } from '../support/gate.ts';
import { sellerWithLicense } from '../support/worlds.ts';
import { expectSecurityHeaders, expectAbsent, captureLogs, SERVICE_SECRETS } from './security.ts';

const errorBody = (code: string, message: string) => ({
  error: { code, message, request_id: expect.stringMatching(/^req_/) },
});
const UNAVAILABLE = errorBody('unavailable', 'Service Unavailable');
const INTERNAL = errorBody('internal_error', 'Internal Server Error');

const INTERNALS = /select|insert|update |sqlite|d1_|no such table|drizzle|stack|\.ts\b|at async/i;

test('a failing database answers 503 without details, and calls work again once it recovers', async () => {
  const ada = await signUp();
  const log = captureLogs();
  const body = { email: ada.email, password: ada.password };
  const answers = [
    await withoutTables(['sessions'], () => ada.asSession('GET', '/api/account')),
    await withoutTables(['sessions'], () => call('POST', '/api/login', { body })),
    await withoutTables(['users'], () => call('POST', '/api/login', { body })),
    await withoutTables(['accounts'], () => call('POST', '/api/login', { body })),
    await withoutTables(['accounts'], () =>
      call('POST', '/api/register', { body: { ...body, email: 'b@example.com' } }),
    ),
    await withoutTables(['api_keys'], () => ada.asKey('POST', '/api/create-api-key', { name: 'second' })),
    await withoutTables(['licenses'], () => ada.asKey('GET', '/api/v1/licenses?q=Orrery')),
    await withoutTables(['licenses'], () =>
      ada.asKey('POST', '/api/v1/licenses/create', { license_key: 'PRIVATE-KEY-1' }),
    ),
    await withoutTables(['feed'], () => ada.asSession('POST', '/api/v1/licenses/create', {})),
  ];
  const text = log.stop();
  for (const answer of answers) {
    expect([answer.status, answer.body]).toEqual([503, UNAVAILABLE]);
    expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
    expect(JSON.stringify([answer.body, [...answer.headers]])).not.toMatch(INTERNALS);
    expectSecurityHeaders('/api/faults', answer);
  }

  // The log names the failure, without the query or its parameters.
  expect(text).toContain('no such table: sessions');
  expect(text).not.toMatch(/failed query|params:/i);
  expectAbsent(text, [...SERVICE_SECRETS, ada.apiKey, ada.token, ada.password, ada.email, 'PRIVATE-KEY-1']);
  const lines = log.lines.map((line) => JSON.parse(line));
  for (const { headers } of answers) {
    const line = lines.find(({ request_id }) => request_id === headers.get('x-request-id'));
    expect(line).toMatchObject({ level: 'error', status: 503, code: 'unavailable' });
    expect(line.error).toEqual(expect.stringContaining('D1_ERROR'));
  }

  expect((await ada.asSession('GET', '/api/account')).status).toBe(200);
  const after = await ada.asSession('POST', '/api/v1/licenses/create', { license_key: 'PRIVATE-KEY-1' });
  expect(after.status).toBe(201);
  // Failed calls cost no usage.
  expect((await ada.verify('PRIVATE-KEY-1')).body).toMatchObject({ valid: true, api_usage: 1 });
});

test('verify answers while the database fails', async () => {
  const { ada, license } = await sellerWithLicense();
  const { body } = await withoutTables(['licenses', 'api_keys'], () => ada.verify(license.license_key));
  expect(body).toMatchObject({ valid: true, api_usage: 1 });
});

test('an unexpected error answers 500 and leaks nothing to the client or the log', async () => {
  const ada = await signUp();
  const bob = await register();
  await accountsD1
    .prepare("UPDATE api_keys SET sealed = 'k1.AAAA' || sealed WHERE id = ?")
    .bind(ada.apiKeyId)
    .run();
  await firstD1
    .prepare("UPDATE users SET password_hash = 'rot13$frperg-jbeqf' WHERE account_id = ?")
    .bind(bob.accountId)
    .run();
  const log = captureLogs();
  const answers = [
    await ada.asKey('GET', `/api/api-keys/${ada.apiKeyId}`),
    await call('POST', '/api/login', { body: { email: bob.email, password: bob.password } }),
  ];
  const text = log.stop();
  for (const answer of answers) {
    expect([answer.status, answer.body]).toEqual([500, INTERNAL]);
    expectSecurityHeaders('/api/faults', answer);
    const line = log.lines
      .map((text) => JSON.parse(text))
      .find(({ request_id }) => request_id === answer.body.error.request_id);
    expect(line).toMatchObject({ level: 'error', status: 500, code: 'internal_error' });
    expect(line.error.length).toBeGreaterThan(10);
  }
  expectAbsent(text, [...SERVICE_SECRETS, ada.apiKey, bob.password, bob.email, 'frperg-jbeqf']);
});

test('the log names a misconfigured variable without its value', async () => {
  const ada = await signUp();
  const callWith = async (secrets: Partial<Pick<Env, 'API_KEY_SECRET' | 'SEALING_KEYS'>>, path: string) => {
    const request = new Request(ORIGIN + path, { headers: { 'x-api-key': ada.apiKey } });
    const log = captureLogs();
    const response = await worker.fetch(request, { ...env, ...secrets }, createExecutionContext());
    return { status: response.status, body: await response.json(), log: log.stop() };
  };
  const tooShort = await callWith({ API_KEY_SECRET: 'much-too-short' }, '/api/account');
  expect([tooShort.status, tooShort.body]).toEqual([503, UNAVAILABLE]);
  expect(tooShort.log).toContain('API_KEY_SECRET is too short');
  expectAbsent(tooShort.log, ['much-too-short', ada.apiKey]);

  const other = `k9:${btoa('another-sealing-key-of-32-bytes!')}`;
  const wrongKey = await callWith({ SEALING_KEYS: other }, `/api/api-keys/${ada.apiKeyId}`);
  expect([wrongKey.status, wrongKey.body]).toEqual([500, INTERNAL]);
  expect(wrongKey.log).toContain('sealed with the key \\"k1\\"');
  expectAbsent(wrongKey.log, [other.slice(3), ada.apiKey, ...SERVICE_SECRETS]);
});
