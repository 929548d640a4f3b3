import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedInBody } from '../../src/accounts/schemas.ts';
import { revealedApiKeyBody } from '../../src/api-keys/schemas.ts';
import { licenseBody } from '../../src/licenses/schemas.ts';
import { checkOut, runToEnd, secretsOf, type Service, start, tidyUp } from './support/service.ts';

// Two checkouts side by side; the first one's service is restarted in between.

const PASSWORD = 'correct horse battery';

const openAccount = async (service: Service, email: string) => {
  const registered = await service.post('/api/register', { email, password: PASSWORD });
  const { account, session } = signedInBody.parse(registered.body);
  const bySession = { authorization: `Bearer ${session.token}` };
  const created = await service.post('/api/create-api-key', {}, bySession);
  const { id: keyId, api_key: apiKey } = revealedApiKeyBody.parse(created.body);
  const made = await service.post('/api/v1/licenses/create', { product: 'Orrery' }, { 'x-api-key': apiKey });
  const { license_key: licenseKey } = licenseBody.parse(made.body);
  return { email, account, bySession, keyId, apiKey, licenseKey };
};

type Customer = Awaited<ReturnType<typeof openAccount>>;

const verify = (service: Service, { apiKey, licenseKey }: Pick<Customer, 'apiKey' | 'licenseKey'>) =>
  service.post('/api/v1/licenses/verify', { license_key: licenseKey }, { 'x-api-key': apiKey });

let folders: [string, string];
let first: Service;
let second: Service;
let ada: Customer;
let bob: Customer;

beforeAll(async () => {
  folders = [await checkOut(), await checkOut()];
  [first, second] = await Promise.all([start(folders[0]), start(folders[1])]);
});
afterAll(tidyUp);

describe('the first start', () => {
  test('makes random secrets that only their owner may read', () => {
    const { API_KEY_SECRET, SEALING_KEYS } = secretsOf(folders[0]);
    expect(API_KEY_SECRET).toMatch(/^[0-9a-f]{64}$/);
    expect(SEALING_KEYS).toMatch(/^k1:[A-Za-z0-9+/]{43}=$/);
    expect(statSync(join(folders[0], '.dev.vars')).mode & 0o777).toBe(0o600);
  });

  test('sets up the database and answers that all is well', async () => {
    const health = await first.get('/health');
    expect(health.status).toBe(200);
    expect(health.body).toMatchObject({
      status: 'ok',
      checks: { database: 'ok', configuration: 'ok' },
    });
  });

  test('prints nothing that looks like a fault, and no secret', () => {
    const output = first.output();
    expect(output).toContain(`Ready on ${first.origin}`);
    expect(output).not.toMatch(/warn|error|fail|fault|deprecat|unable|could not|missing|▲|✘/i);
    for (const secret of Object.values(secretsOf(folders[0]))) expect(output).not.toContain(secret);
  });
});

describe('two checkouts side by side', () => {
  test('have secrets of their own', () => {
    expect(secretsOf(folders[0])['API_KEY_SECRET']).not.toBe(secretsOf(folders[1])['API_KEY_SECRET']);
    expect(secretsOf(folders[0])['SEALING_KEYS']).not.toBe(secretsOf(folders[1])['SEALING_KEYS']);
  });

  test('have accounts of their own, also for one e-mail', async () => {
    ada = await openAccount(first, 'ada@example.com');
    bob = await openAccount(second, 'ada@example.com');
    expect(bob.account.id).not.toBe(ada.account.id);
  });

  test('refuse each other’s keys and sessions', async () => {
    for (const [service, stranger] of [
      [first, bob],
      [second, ada],
    ] as const) {
      expect(await verify(service, stranger)).toMatchObject({
        status: 403,
        body: { error: { code: 'api_key_invalid' } },
      });
      expect((await service.get('/api/account', stranger.bySession)).status).toBe(401);
    }
  });

  test('count for themselves', async () => {
    expect((await verify(first, ada)).body).toMatchObject({ valid: true, api_usage: 2 });
    expect((await verify(first, ada)).body).toMatchObject({ valid: true, api_usage: 3 });
    expect((await verify(second, bob)).body).toMatchObject({ valid: true, api_usage: 2 });
  });
});

describe('a restart', () => {
  let secrets: NodeJS.Dict<string>;

  beforeAll(async () => {
    secrets = secretsOf(folders[0]);
    // The hard way: nobody gets to tidy up.
    await first.stop('SIGKILL');
    first = await start(folders[0]);
  });

  test('leaves the secrets as they are', () => {
    expect(secretsOf(folders[0])).toEqual(secrets);
  });

  test('loses no account and no session', async () => {
    const login = await first.post('/api/login', { email: ada.email, password: PASSWORD });
    expect(login).toMatchObject({ status: 200, body: { account: ada.account } });
    expect((await first.get('/api/account', ada.bySession)).body).toEqual(ada.account);
  });

  test('loses no API key, which can still be revealed', async () => {
    const revealed = await first.get(`/api/api-keys/${ada.keyId}`, ada.bySession);
    expect(revealed).toMatchObject({ status: 200, body: { api_key: ada.apiKey } });
  });

  test('loses no license and no counted call', async () => {
    expect(await verify(first, ada)).toMatchObject({
      status: 200,
      body: { valid: true, status: 'active', api_usage: 4 },
    });
  });

  test('of one checkout does not disturb the other', async () => {
    expect((await verify(second, bob)).body).toMatchObject({ valid: true, api_usage: 3 });
  });
});

describe('without a good secret', () => {
  let good: string;
  const rewrite = (change: (lines: string) => string) =>
    writeFileSync(join(folders[1], '.dev.vars'), change(good));

  beforeAll(async () => {
    await second.stop();
    good = readFileSync(join(folders[1], '.dev.vars'), 'utf8');
  });

  test.each<[what: string, sentence: RegExp, change: (lines: string) => string]>([
    [
      'a missing API_KEY_SECRET',
      /API_KEY_SECRET is missing: /,
      (lines) => lines.replace(/^API_KEY_SECRET=.*\n/m, ''),
    ],
    [
      'an empty SEALING_KEYS',
      /SEALING_KEYS is missing: /,
      (lines) => lines.replace(/^(SEALING_KEYS=).*/m, '$1'),
    ],
    [
      'a short API_KEY_SECRET',
      /API_KEY_SECRET is too short: /,
      (lines) => lines.replace(/^(API_KEY_SECRET=.{31}).*/m, '$1'),
    ],
    [
      'a short key in SEALING_KEYS',
      /SEALING_KEYS must be a comma-separated list of /,
      (lines) => lines.replace(/^(SEALING_KEYS=k1:.{20}).*/m, '$1'),
    ],
  ])('%s stops `npm run dev` with one sentence that names it', async (_what, sentence, change) => {
    rewrite(change);
    const { code, stdout, stderr } = await runToEnd(folders[1], 'npm', 'run', '--silent', 'dev');
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(sentence);
    expect(stderr).toMatch(/^\.dev\.vars: [^\n]+\.\n$/);
    const secrets = Object.values(secretsOf(folders[1])).filter(Boolean);
    expect(secrets.filter((secret = '') => stderr.includes(secret))).toEqual([]);
  });

  test('the Worker itself answers 503, and /health says which one is missing', async () => {
    rewrite((lines) => lines.replace(/^API_KEY_SECRET=.*\n/m, ''));
    second = await start(folders[1], [
      join(folders[1], 'node_modules/.bin/wrangler'),
      'dev',
      '--inspector-port=0',
    ]);
    const health = await second.get('/health');
    expect(health).toMatchObject({
      status: 503,
      body: { status: 'degraded', checks: { database: 'ok' } },
    });
    expect(health.text).toContain('API_KEY_SECRET is missing');
    const refused = await verify(second, bob);
    expect(refused).toMatchObject({
      status: 503,
      body: { error: { code: 'unavailable', message: 'Service Unavailable' } },
    });
    expect(refused.text).not.toContain('API_KEY_SECRET');
  });
});
