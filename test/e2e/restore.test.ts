import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkOutBuilt, newSecrets, writeSecrets } from './support/checkout.ts';
import { createAccount, type Customer } from './support/customer.ts';
import { cleanUp, runCommand, type Service, startService } from './support/service.ts';

// The drill of docs/backups.md: a service with ten accounts is lost but for its bucket and its secrets, and rebuilt.

const ACCOUNTS = 10;
const LICENSES = 5;
const OPERATOR_TOKEN = randomBytes(32).toString('hex');

interface Seller {
  customer: Customer;
  apiKey: string;
  licenseKeys: string[];
  webhookId: string;
}

let folder: string;
let service: Service;
const sellers: Seller[] = [];

beforeAll(async () => {
  folder = await checkOutBuilt();
  writeSecrets(folder, { ...newSecrets(), OPERATOR_TOKEN });
  service = await startService(folder);
});
afterAll(cleanUp);

const command = async (name: 'backup' | 'restore') => {
  const variables = [`LATCHKEY_URL=${service.origin}`, `LATCHKEY_OPERATOR_TOKEN=${OPERATOR_TOKEN}`];
  const started = Date.now();
  const { code, stdout, stderr } = await runCommand(
    folder,
    'env',
    ...variables,
    'npm',
    'run',
    '-s',
    name,
    '--',
    '--json',
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return { result: JSON.parse(stdout) as Record<string, unknown>, seconds: (Date.now() - started) / 1_000 };
};

const addSeller = async (number: number): Promise<Seller> => {
  const customer = await createAccount(service, `seller${number}`);
  const { api_key: apiKey } = await customer.addKey();
  const headers = { 'x-api-key': apiKey };
  await service.put('/api/v1/products/editor', { terms: { max_activations: 3 } }, headers);
  const licenseKeys: string[] = [];
  for (let i = 0; i < LICENSES; i++) {
    const { license_key } = await customer.addLicense({ product: 'editor' });
    licenseKeys.push(license_key);
    const body = { license_key, fingerprint: `machine-of-${number}-${i}` };
    expect((await service.post('/api/v1/licenses/activate', body, headers)).status).toBe(200);
  }
  const webhook = await service.post('/api/webhooks', { url: 'http://127.0.0.1:9/hook' }, headers);
  return { customer, apiKey, licenseKeys, webhookId: (webhook.body as { id: string }).id };
};

/** What a seller's application and the seller see. */
const pictureOf = async ({ apiKey, licenseKeys, webhookId }: Seller, number: number) => {
  const headers = { 'x-api-key': apiKey };
  const licenses = await service.get('/api/v1/licenses?sort=created_at', headers);
  const webhook = await service.get(`/api/webhooks/${webhookId}`, headers);
  const seats: unknown[] = [];
  let calls = 0;
  for (const [i, license_key] of licenseKeys.entries()) {
    const body = { license_key, fingerprint: `machine-of-${number}-${i}`, nonce: 'n'.repeat(16) };
    const {
      valid,
      activation,
      seats: used,
      api_usage,
      token,
    } = (await service.post('/api/v1/licenses/verify', body, headers)).body as Record<
      string,
      { id: string } | string | number | boolean
    >;
    const [header = ''] = (typeof token === 'string' ? token : '').split('.');
    seats.push({ valid, activation, used, kid: Buffer.from(header, 'base64url').toString() });
    calls = Number(api_usage);
  }
  return {
    licenses: (licenses.body as { data: unknown }).data,
    secret: (webhook.body as { secret: string }).secret,
    seats,
    calls,
  };
};

const pictures = async () => {
  const all = [];
  for (const [number, seller] of sellers.entries()) all.push(await pictureOf(seller, number));
  return all;
};

test('ten accounts that were lost come back with their keys, licenses, counts, seats, webhooks and signing keys', async () => {
  for (let i = 0; i < ACCOUNTS; i++) sellers.push(await addSeller(i));
  const before = await pictures();
  const backup = await command('backup');
  expect(backup.result).toMatchObject({ status: 'done', accounts: ACCOUNTS, missing_accounts: [] });
  // What came after the backup is lost.
  const late = await createAccount(service, 'late');

  await service.stop();
  const state = join(folder, '.wrangler/state/v3');
  const lost = readdirSync(state).filter((name) => name !== 'r2');
  expect(lost).toEqual(expect.arrayContaining(['d1', 'do']));
  for (const name of lost) rmSync(join(state, name), { recursive: true });
  service = await startService(folder);

  const restore = await command('restore');
  expect(restore.result).toMatchObject({ done: true, accounts: ACCOUNTS, skipped_rows: 0 });
  const after = await pictures();
  const calls = (all: typeof before) => all.map((picture) => picture.calls);
  expect(calls(after)).toEqual(calls(before).map((count) => count + LICENSES));
  const still = (all: typeof before) => all.map((picture) => ({ ...picture, calls: 0 }));
  expect(still(after)).toEqual(still(before));
  const session = { authorization: `Bearer ${late.token}` };
  expect((await service.get('/api/account', session)).status).toBe(401);

  console.log(
    `Backup: ${String(backup.result['rows'])} rows in ${backup.seconds.toFixed(1)} s; restore: ${String(restore.result['rows'])} rows in ${restore.seconds.toFixed(1)} s; lost 0.`,
  );
});

test('a service that has accounts refuses a restore, and says why', async () => {
  // The backup that it was restored from would be answered as done.
  await command('backup');
  const variables = [`LATCHKEY_URL=${service.origin}`, `LATCHKEY_OPERATOR_TOKEN=${OPERATOR_TOKEN}`];
  const { code, stderr } = await runCommand(folder, 'env', ...variables, 'npm', 'run', '-s', 'restore');
  expect(code).toBe(2);
  expect(stderr).toContain('The service has accounts. Restore into a new service.');
});
