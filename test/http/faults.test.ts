import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import worker from '../../src/index.ts';
import { call, ORIGIN, register, signUp } from '../support/client.ts';
import { expectSecurityHeaders, expectAbsent, captureLogs, SERVICE_SECRETS } from './security.ts';

/** While it is away, D1 fails whatever asks for it. */
const without = async <T>(table: string, work: () => Promise<T>): Promise<T> => {
  await env.DB.exec(`ALTER TABLE ${table} RENAME TO ${table}_away`);
  try {
    return await work();
  } finally {
    await env.DB.exec(`ALTER TABLE ${table}_away RENAME TO ${table}`);
  }
};

const bare = (code: string, message: string) => ({
  error: { code, message, request_id: expect.stringMatching(/^req_/) },
});
const UNAVAILABLE = bare('unavailable', 'Service Unavailable');
const INTERNAL = bare('internal_error', 'Internal Server Error');

const INNARDS = /select|insert|update |sqlite|d1_|no such table|drizzle|stack|\.ts\b|at async/i;

test('503 while the database fails, which tells nobody why and is over when the database is back', async () => {
  const ada = await signUp();
  const log = captureLogs();
  const body = { email: ada.email, password: ada.password };
  const answers = [
    await without('sessions', () => ada.asSession('GET', '/api/account')),
    await without('sessions', () => call('POST', '/api/login', { body })),
    await without('accounts', () => call('POST', '/api/login', { body })),
    await without('accounts', () =>
      call('POST', '/api/register', { body: { ...body, email: 'b@example.com' } }),
    ),
    await without('api_keys', () => ada.asKey('POST', '/api/create-api-key', { name: 'second' })),
    await without('licenses', () => ada.asKey('GET', '/api/v1/licenses?q=Orrery')),
    await without('licenses', () =>
      ada.asKey('POST', '/api/v1/licenses/create', { license_key: 'PRIVATE-KEY-1' }),
    ),
    await without('feed', () => ada.asSession('POST', '/api/v1/licenses/create', {})),
  ];
  const text = log.stop();
  for (const answer of answers) {
    expect([answer.status, answer.body]).toEqual([503, UNAVAILABLE]);
    expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
    expect(JSON.stringify([answer.body, [...answer.headers]])).not.toMatch(INNARDS);
    expectSecurityHeaders('/api/faults', answer);
  }

  // The log says what failed, and quotes neither the query nor what it was asked with.
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
  // What failed was not counted.
  expect((await ada.verify('PRIVATE-KEY-1')).body).toMatchObject({ valid: true, api_usage: 1 });
});

test('a verify needs no database: it answers while the database fails', async () => {
  const ada = await signUp();
  const license = await ada.createLicense();
  const { body } = await without('licenses', () =>
    without('api_keys', () => ada.verify(license.license_key)),
  );
  expect(body).toMatchObject({ valid: true, api_usage: 1 });
});

test('500 for what nobody expected, with nothing leaked to the caller or into the log', async () => {
  const ada = await signUp();
  const bob = await register();
  await env.DB.batch([
    env.DB.prepare("UPDATE api_keys SET sealed = 'k1.AAAA' || sealed WHERE id = ?").bind(ada.apiKeyId),
    env.DB.prepare("UPDATE accounts SET password_hash = 'rot13$frperg-jbeqf' WHERE id = ?").bind(
      bob.accountId,
    ),
  ]);
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
      .map((one) => JSON.parse(one))
      .find(({ request_id }) => request_id === answer.body.error.request_id);
    expect(line).toMatchObject({ level: 'error', status: 500, code: 'internal_error' });
    expect(line.error.length).toBeGreaterThan(10);
  }
  expectAbsent(text, [...SERVICE_SECRETS, ada.apiKey, bob.password, bob.email, 'frperg-jbeqf']);
});

test('a service that is set up wrongly says so in its log, names the variable and keeps its value', async () => {
  const ada = await signUp();
  const as = async (secrets: Partial<Pick<Env, 'API_KEY_SECRET' | 'SEALING_KEYS'>>, path: string) => {
    const request = new Request(ORIGIN + path, { headers: { 'x-api-key': ada.apiKey } });
    const log = captureLogs();
    const response = await worker.fetch(request, { ...env, ...secrets }, createExecutionContext());
    return { status: response.status, body: await response.json(), log: log.stop() };
  };
  const short = await as({ API_KEY_SECRET: 'much-too-short' }, '/api/account');
  expect([short.status, short.body]).toEqual([503, UNAVAILABLE]);
  expect(short.log).toContain('API_KEY_SECRET is too short');
  expectAbsent(short.log, ['much-too-short', ada.apiKey]);

  const other = `k9:${btoa('another-sealing-key-of-32-bytes!')}`;
  const lost = await as({ SEALING_KEYS: other }, `/api/api-keys/${ada.apiKeyId}`);
  expect([lost.status, lost.body]).toEqual([500, INTERNAL]);
  expect(lost.log).toContain('no key \\"k1\\"');
  expectAbsent(lost.log, [other.slice(3), ada.apiKey, ...SERVICE_SECRETS]);
});
