import { createExecutionContext, listDurableObjectIds } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { mintApiKey } from '../../src/api-keys/api-key.ts';
import worker from '../../src/index.ts';
import { settingsOf } from '../../src/shared/config/settings.ts';
import { expectAbsent, dumpDatabase, captureLogs } from '../http/security.ts';
import { call, type Json, ORIGIN, signUp } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { withoutTables } from '../support/gate.ts';

const HEALTHY = {
  status: 'ok',
  version: packageJson.version,
  time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  checks: { database: 'ok', configuration: 'ok', mail: 'ok' },
};

const UNKNOWN_KEY = mintApiKey(
  [env.API_KEY_SECRET],
  `acct_${'0'.repeat(20)}`,
  `key_${'0'.repeat(20)}`,
).apiKey;

test.for([
  { name: 'no credential', headers: {} },
  { name: 'a malformed API key', headers: { 'x-api-key': 'nonsense' } },
  { name: 'an unknown account’s API key', headers: { 'x-api-key': UNKNOWN_KEY } },
  { name: 'an unknown session', headers: { cookie: 'session=x' } },
])('GET /health answers ok with $name and stores nothing', async ({ headers }) => {
  const stored = async () => [await dumpDatabase(), await listDurableObjectIds(env.GATE)];
  const before = await stored();
  const { status, body } = await call('GET', '/health', { headers });
  expect([status, body]).toEqual([200, HEALTHY]);
  expect(await stored()).toEqual(before);
});

test('GET /health names the deployment, so that whoever deploys knows which one answers', async () => {
  const setting = vi.spyOn(settingsOf(env), 'deployment', 'get').mockReturnValue('the-third');
  onTestFinished(() => setting.mockRestore());
  expect((await call('GET', '/health')).body).toEqual({ ...HEALTHY, deployment: 'the-third' });
});

test('GET /health with an API key costs no usage and has no rate limit', async () => {
  const ada = await signUp();
  const headers = { 'x-api-key': ada.apiKey };
  expect((await call('GET', '/health', { headers })).headers.has('ratelimit')).toBe(false);
  expect((await ada.verify('AAAAAAAA')).body.api_usage).toBe(0);
});

test('GET /health answers degraded while the database is down and ok once it is back', async () => {
  useFakeClock(Date.now() + 10_000);
  const log = captureLogs();
  const { status, body, headers } = await withoutTables(['accounts'], () => call('GET', '/health'));
  const text = log.stop();
  expect([status, body]).toEqual([
    503,
    {
      ...HEALTHY,
      status: 'degraded',
      checks: { database: 'unavailable: DB2', configuration: 'ok', mail: 'ok' },
    },
  ]);
  expect(headers.get('x-request-id')).toMatch(/^req_/);
  expect(text).toContain('no such table: accounts');
  vi.advanceTimersByTime(2_000);
  expect((await call('GET', '/health')).body).toEqual(HEALTHY);
});

test('GET /health queries the database at most every two seconds, also in parallel and after a failure', async () => {
  useFakeClock(Date.now() + 20_000);
  const statusesOf20 = async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('GET', '/health')));
    return new Set(answers.map(({ status }) => status));
  };
  const healthy = await recordStatements(statusesOf20);
  expect([healthy.result, healthy.statements.length]).toEqual([new Set([200]), 2]);
  vi.advanceTimersByTime(1_999);
  expect((await recordStatements(statusesOf20)).statements).toEqual([]);

  vi.advanceTimersByTime(1);
  await withoutTables(['accounts'], async () => {
    const failing = await recordStatements(statusesOf20);
    expect([failing.result, failing.statements.length]).toEqual([new Set([503]), 2]);
  });
  vi.advanceTimersByTime(1_999);
  const cached = await recordStatements(statusesOf20);
  expect([cached.result, cached.statements]).toEqual([new Set([503]), []]);
  vi.advanceTimersByTime(1);
  expect(await statusesOf20()).toEqual(new Set([200]));
});

test('GET /health answers degraded once a database takes 9 of its 10 GB, because a full one refuses to write', async () => {
  useFakeClock(Date.now() + 40_000);
  const d1 = Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as D1PreparedStatement;
  const all = Reflect.get(d1, 'all') as (this: D1PreparedStatement) => Promise<D1Result>;
  const grown = vi.spyOn(d1, 'all').mockImplementation(async function (this: D1PreparedStatement) {
    const result = await all.call(this);
    return { ...result, meta: { ...result.meta, size_after: 9_100_000_000 } };
  });
  const { status, body } = await call('GET', '/health');
  grown.mockRestore();
  expect([status, body.checks.database]).toEqual([503, 'nearly full: DB (9.1 of 10 GB), DB2 (9.1 of 10 GB)']);
});

describe('GET /health with a misconfigured variable', () => {
  const healthWith = async (
    variables: Partial<
      Pick<Env, 'API_KEY_SECRET' | 'SEALING_KEYS' | 'SIGNING_KEYS' | 'DATABASES' | 'REGIONS' | 'MAIL_FROM'>
    >,
  ) => {
    const request = new Request(`${ORIGIN}/health`);
    const response = await worker.fetch(request, { ...env, ...variables }, createExecutionContext());
    return { status: response.status, body: (await response.json()) as Json };
  };

  test.for([
    { problem: 'is empty', name: 'API_KEY_SECRET', value: '' },
    { problem: 'is too short', name: 'API_KEY_SECRET', value: 'much-too-short' },
    { problem: 'is empty', name: 'SEALING_KEYS', value: '' },
    { problem: 'is empty', name: 'SIGNING_KEYS', value: '' },
    { problem: 'has a short key', name: 'SIGNING_KEYS', value: 'c2hvcnQtc2VjcmV0' },
    { problem: 'has a short key', name: 'SEALING_KEYS', value: 'k1:c2hvcnQtc2VjcmV0' },
    { problem: 'repeats a name', name: 'SEALING_KEYS', value: `${env.SEALING_KEYS},${env.SEALING_KEYS}` },
    { problem: 'names no binding', name: 'DATABASES', value: 'unknown-binding' },
    { problem: 'is neither on nor off', name: 'REGIONS', value: 'sometimes' },
    { problem: 'is too short', name: 'REGIONS_LEASE_SECONDS', value: '4' },
    { problem: 'is no number', name: 'REGIONS_LEASE_SECONDS', value: '30 seconds' },
    { problem: 'is too low', name: 'REGIONS_OPEN_AFTER', value: '0' },
  ] as const)(
    'answers degraded and names $name, not its value, when it $problem',
    async ({ name, value }) => {
      const { status, body } = await healthWith({ [name]: value });
      expect([status, body.status, body.checks.database]).toEqual([503, 'degraded', 'ok']);
      expect(body.checks.configuration).toContain(name);
      expectAbsent(
        JSON.stringify(body),
        [value, value.slice(3)].filter((part) => part.length > 7),
      );
    },
  );

  test('answers ok with the valid variables', async () => {
    expect((await healthWith({})).status).toBe(200);
  });

  test('answers ok without a sender of emails, and says so', async () => {
    const { status, body } = await healthWith({ MAIL_FROM: '' });
    expect([status, body.status, body.checks.mail]).toEqual([200, 'ok', 'not_configured']);
  });
});
