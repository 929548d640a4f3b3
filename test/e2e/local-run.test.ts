import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revealedApiKeyBody } from '../../src/api-keys/schemas.ts';
import { licenseBody } from '../../src/licenses/schemas.ts';
import { signedInBody } from '../../src/sign-in/schemas.ts';
import { healthBody } from '../../src/system/health.ts';
import { checkOut, checkOutBuilt, secretsOf } from './support/checkout.ts';
import { cleanUp, type Service, startService } from './support/service.ts';

// Two checkouts run side by side, and the first checkout's service is restarted.

const PASSWORD = 'correct horse battery';

const createAccount = async (service: Service, email: string) => {
  const registered = await service.post('/api/register', { email, password: PASSWORD });
  const { account, session } = signedInBody.parse(registered.body);
  const sessionHeader = { authorization: `Bearer ${session.token}` };
  const created = await service.post('/api/create-api-key', {}, sessionHeader);
  const { id: keyId, api_key: apiKey } = revealedApiKeyBody.parse(created.body);
  const made = await service.post('/api/v1/licenses/create', { product: 'Orrery' }, { 'x-api-key': apiKey });
  const { license_key: licenseKey } = licenseBody.parse(made.body);
  return { email, account, sessionHeader, keyId, apiKey, licenseKey };
};

type Customer = Awaited<ReturnType<typeof createAccount>>;

const verify = (service: Service, { apiKey, licenseKey }: Pick<Customer, 'apiKey' | 'licenseKey'>) =>
  service.post('/api/v1/licenses/verify', { license_key: licenseKey }, { 'x-api-key': apiKey });

const LATER_MIGRATION = '9999_later.sql';

let firstFolder: string;
let secondFolder: string;
let first: Service;
let second: Service;
let ada: Customer;
let bob: Customer;

beforeAll(async () => {
  firstFolder = await checkOut();
  first = await startService(firstFolder);
});
afterAll(cleanUp);

describe('the first start', () => {
  test('generates random secrets in a file that only its owner can read', () => {
    const { API_KEY_SECRET, SEALING_KEYS, SIGNING_KEYS } = secretsOf(firstFolder);
    expect(API_KEY_SECRET).toMatch(/^[0-9a-f]{64}$/);
    expect(SEALING_KEYS).toMatch(/^k1:[A-Za-z0-9+/]{43}=$/);
    expect(SIGNING_KEYS).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect(statSync(join(firstFolder, '.dev.vars')).mode & 0o777).toBe(0o600);
  });

  test('creates the database, and the health check passes', async () => {
    // On a busy machine, the database may take longer at first than a health check waits for it.
    await expect
      .poll(() => first.get('/health'))
      .toMatchObject({
        status: 200,
        body: { status: 'ok', checks: { database: 'ok', configuration: 'ok', mail: 'ok' } },
      });
  });

  test('prints the address of the dashboard once the service answers', async () => {
    const ready = `Ready on ${first.origin}`;
    const dashboard = `\nDashboard: ${first.origin}\n`;
    await expect.poll(first.output).toContain(dashboard);
    expect(first.output().indexOf(dashboard)).toBeGreaterThan(first.output().indexOf(ready));
  });

  test('prints no warning, no error and no secret', () => {
    const output = first.output();
    expect(output).toContain(`Ready on ${first.origin}`);
    expect(output).not.toMatch(/warn|error|fail|fault|deprecat|unable|could not|missing|▲|✘/i);
    for (const secret of Object.values(secretsOf(firstFolder))) expect(output).not.toContain(secret);
  });
});

describe('an email', () => {
  const email = 'grace@example.com';
  const subject = 'Verify your email address';

  test('is written to a file, whose path and address the terminal shows', async () => {
    expect((await first.post('/api/register', { email, password: PASSWORD })).status).toBe(201);
    const line = new RegExp(`^Email to ${email}, “${subject}”: (/.*\\.html)$`, 'm');
    await expect.poll(first.output).toMatch(line);
    const [, path = ''] = line.exec(first.output()) ?? [];
    const html = readFileSync(path, 'utf8');
    const [, token] = html.match(new RegExp(`${first.origin}/verify-email#token=(\\w+)"`)) ?? [];
    const verified = await first.post('/api/verify-email', { token, password: PASSWORD });
    expect(verified).toMatchObject({ status: 200, body: { email, email_verified: true } });
    expect(first.output()).not.toContain(token);
  });

  test('can also be read in the browser, at the address that /health and the first lines name', async () => {
    const { body } = await first.get('/health');
    const { mail_preview: path = '' } = healthBody.parse(body);
    expect(first.output()).toContain(`Emails aren’t sent. Read them at ${first.origin}${path}, `);
    const preview = await first.get(path);
    expect([preview.status, preview.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ]);
  });
});

describe('two checkouts side by side', () => {
  beforeAll(async () => {
    // Only the first one builds from nothing, as a new user does.
    secondFolder = await checkOutBuilt();
    second = await startService(secondFolder);
  });

  test('have different secrets', () => {
    expect(secretsOf(firstFolder)['API_KEY_SECRET']).not.toBe(secretsOf(secondFolder)['API_KEY_SECRET']);
    expect(secretsOf(firstFolder)['SEALING_KEYS']).not.toBe(secretsOf(secondFolder)['SEALING_KEYS']);
    expect(secretsOf(firstFolder)['SIGNING_KEYS']).not.toBe(secretsOf(secondFolder)['SIGNING_KEYS']);
  });

  test('keep separate accounts for the same email address', async () => {
    ada = await createAccount(first, 'ada@example.com');
    bob = await createAccount(second, 'ada@example.com');
    expect(bob.account.id).not.toBe(ada.account.id);
  });

  test('reject each other’s API keys and sessions', async () => {
    for (const [service, other] of [
      [first, bob],
      [second, ada],
    ] as const) {
      expect(await verify(service, other)).toMatchObject({
        status: 403,
        body: { error: { code: 'api_key_invalid' } },
      });
      expect((await service.get('/api/account', other.sessionHeader)).status).toBe(401);
    }
  });

  test('count usage separately', async () => {
    expect((await verify(first, ada)).body).toMatchObject({ valid: true, api_usage: 2 });
    expect((await verify(first, ada)).body).toMatchObject({ valid: true, api_usage: 3 });
    expect((await verify(second, bob)).body).toMatchObject({ valid: true, api_usage: 2 });
  });
});

describe('a restart', () => {
  let secrets: NodeJS.Dict<string>;

  beforeAll(async () => {
    secrets = secretsOf(firstFolder);
    // SIGKILL leaves the service no time for cleanup.
    await first.stop('SIGKILL');
    writeFileSync(
      join(firstFolder, 'drizzle', LATER_MIGRATION),
      'CREATE TABLE later (id TEXT PRIMARY KEY);\n',
    );
    first = await startService(firstFolder);
  });

  test('applies a migration that came meanwhile', () => {
    const [file = ''] = globSync(join(firstFolder, '.wrangler/state/v3/d1/**/*.sqlite'), {
      exclude: (path) => path.endsWith('metadata.sqlite'),
    });
    const database = new DatabaseSync(file, { readOnly: true });
    const applied = database.prepare('SELECT name FROM d1_migrations ORDER BY id DESC LIMIT 1').get();
    expect(applied).toMatchObject({ name: LATER_MIGRATION });
    expect(database.prepare('SELECT count(*) AS rows FROM later').get()).toMatchObject({ rows: 0 });
    database.close();
  });

  test('keeps the secrets', () => {
    expect(secretsOf(firstFolder)).toEqual(secrets);
  });

  test('keeps the account and the session', async () => {
    const login = await first.post('/api/login', { email: ada.email, password: PASSWORD });
    expect(login).toMatchObject({ status: 200, body: { account: ada.account } });
    expect((await first.get('/api/account', ada.sessionHeader)).body).toEqual({
      ...ada.account,
      pending_email: null,
      two_factor: false,
      two_factor_reset_at: null,
      muted_emails: [],
      moving_to: null,
      branches: [],
    });
  });

  test('keeps the API key, which can still be revealed', async () => {
    const revealed = await first.get(`/api/api-keys/${ada.keyId}`, ada.sessionHeader);
    expect(revealed).toMatchObject({ status: 200, body: { api_key: ada.apiKey } });
  });

  test('keeps the license and the usage count', async () => {
    expect(await verify(first, ada)).toMatchObject({
      status: 200,
      body: { valid: true, status: 'active', api_usage: 4 },
    });
  });

  test('leaves the other checkout running', async () => {
    expect((await verify(second, bob)).body).toMatchObject({ valid: true, api_usage: 3 });
  });
});
