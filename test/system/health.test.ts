import { createExecutionContext, listDurableObjectIds } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { mintApiKey } from '../../src/auth/api-key.ts';
import worker from '../../src/index.ts';
import { expectAbsent, dumpDatabase, captureLogs } from '../http/security.ts';
import { call, type Json, ORIGIN, signUp } from '../support/client.ts';

const well = {
  status: 'ok',
  version: packageJson.version,
  time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  checks: { database: 'ok', configuration: 'ok' },
};

test('a service that is well says so, to anybody, and nothing comes of asking', async () => {
  const empty = await dumpDatabase();
  const nobodys = mintApiKey(env.API_KEY_SECRET, `acct_${'0'.repeat(20)}`, `key_${'0'.repeat(20)}`).apiKey;
  for (const headers of [
    {},
    { 'x-api-key': 'nonsense' },
    { 'x-api-key': nobodys },
    { cookie: 'session=x' },
  ]) {
    const { status, body } = await call('GET', '/health', { headers });
    expect([status, body]).toEqual([200, well]);
  }
  expect(await dumpDatabase()).toBe(empty);
  expect(await listDurableObjectIds(env.GATE)).toEqual([]);
  const ada = await signUp();
  const own = { 'x-api-key': ada.apiKey };
  expect((await call('GET', '/health', { headers: own })).headers.has('ratelimit')).toBe(false);
  expect((await ada.verify('AAAAAAAA')).body.api_usage).toBe(1);
});

test('a service without its database is degraded, and well again when the database is back', async () => {
  const log = captureLogs();
  await env.DB.exec('ALTER TABLE accounts RENAME TO accounts_away');
  const { status, body, headers } = await call('GET', '/health');
  await env.DB.exec('ALTER TABLE accounts_away RENAME TO accounts');
  const text = log.stop();
  expect([status, body]).toEqual([
    503,
    { ...well, status: 'degraded', checks: { database: 'unavailable', configuration: 'ok' } },
  ]);
  expect(headers.get('x-request-id')).toMatch(/^req_/);
  expect(text).toContain('no such table: accounts');
  expect((await call('GET', '/health')).body).toEqual(well);
});

test('a service that is set up wrongly says which variable is at fault, and keeps its value', async () => {
  const as = async (secrets: Partial<Pick<Env, 'API_KEY_SECRET' | 'SEALING_KEYS'>>) => {
    const request = new Request(`${ORIGIN}/health`);
    const response = await worker.fetch(request, { ...env, ...secrets }, createExecutionContext());
    return { status: response.status, body: (await response.json()) as Json };
  };
  const wrong: [name: 'API_KEY_SECRET' | 'SEALING_KEYS', value: string][] = [
    ['API_KEY_SECRET', ''],
    ['API_KEY_SECRET', 'much-too-short'],
    ['SEALING_KEYS', ''],
    ['SEALING_KEYS', 'k1:c2hvcnQtc2VjcmV0'],
    ['SEALING_KEYS', `${env.SEALING_KEYS},${env.SEALING_KEYS}`],
  ];
  for (const [name, value] of wrong) {
    const { status, body } = await as({ [name]: value });
    expect([status, body.status, body.checks.database]).toEqual([503, 'degraded', 'ok']);
    expect(body.checks.configuration).toContain(name);
    expectAbsent(
      JSON.stringify(body),
      [value, value.slice(3)].filter((part) => part.length > 7),
    );
  }
  expect((await as({})).status).toBe(200);
});
