import { beforeAll, describe, expect, test } from 'vitest';
import { streamLines } from '../../src/http/ndjson.ts';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { exportAll, importAs, ofType, toLines } from './transfer.ts';

// Exports an account, and imports the file into another account.

const LICENSES = 500;

let source: Customer;
let exported: Json[];

beforeAll(async () => {
  source = await signUp();
  const put = (code: string, terms: Json) =>
    source.asSession('PUT', `/api/v1/products/${code}`, { name: code, terms });
  await put('orrery', { max_activations: 2, entitlements: { export: true } });
  await put('floating', { max_activations: 3, lease_seconds: 3_600 });
  const licenses = Array.from({ length: LICENSES }, (_, i) => ({
    license_key: `KEY-${String(i).padStart(6, '0')}`,
    customer_email: `customer-${i}@example.com`,
    customer_name: i % 3 === 0 ? null : `Customer "${i}"`,
    customer_company: i % 2 === 0 ? null : `Company, ${i}`,
    product: [null, 'orrery', 'floating', 'a product without terms'][i % 4],
    expires_at: [null, '2999-12-31', '2020-01-31'][i % 3],
    updates_until: i % 5 === 0 ? '2030-01-01' : null,
    metadata: i % 2 === 0 ? { order: i, vip: true } : {},
    terms: i % 7 === 0 ? { max_activations: 'none', entitlements: { beta: null } } : {},
    status: i % 11 === 0 ? 'suspended' : i % 13 === 0 ? 'revoked' : undefined,
    created_at: new Date(Date.UTC(2020, 0, 1) + i * 1_000).toISOString(),
  }));
  await importAs(source, toLines(licenses), '?allow_unknown_product=true');
  const on = (path: string, n: number, machine: number) =>
    source.asKey('POST', `/api/v1/licenses/${path}`, {
      license_key: licenses[n]?.license_key,
      fingerprint: `machine-${machine}-of-${n}`,
      name: 'desk',
    });
  for (const n of [4, 10, 25, 49]) await on('activate', n, 1);
  await on('activate', 25, 2);
  await on('deactivate', 25, 1);
  await source.asSession('POST', '/api/webhooks', {
    url: 'https://example.com/hooks',
    events: ['license.created'],
  });
  const { body } = await source.asSession('GET', '/api/v1/licenses?q=KEY-000001');
  await source.asSession('PATCH', `/api/v1/licenses/${body.data[0].id}`, { customer_name: 'Renamed' });
  await source.asSession('POST', '/api/init-payment', { plan: 'pro' });
  exported = await exportAll(source);
});

/** Ids and the times of this account are its own. */
const withoutIds = (lines: Json[]) =>
  lines
    .map((line) => ({ ...line, id: '', license_id: '', updated_at: '' }))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

describe('an export', () => {
  test('has everything of the account, and ends with the numbers of lines', () => {
    const counts = Object.fromEntries(
      Object.entries(Object.groupBy(exported, ({ type }) => type)).map(([type, found]) => [
        type,
        found?.length,
      ]),
    );
    const { end: _, ...others } = counts;
    expect(exported.at(-1)).toEqual({ type: 'end', counts: others });
    expect(counts).toMatchObject({
      account: 1,
      product: 2,
      license: LICENSES,
      activation: 5,
      api_key: 1,
      webhook: 1,
      payment: 1,
      usage_day: 1,
      // A renamed customer, five machines, and one that was released.
      license_change: 7,
    });
    expect(ofType(exported, 'audit').map(({ action }) => action)).toEqual(
      expect.arrayContaining(['api_key.create', 'webhook.create', 'account.export', 'license.import']),
    );
    expect(ofType(exported, 'activation').find(({ released_at }) => released_at !== null)).toMatchObject({
      license_key: 'KEY-000025',
      fingerprint: 'machine-1-of-25',
    });
  });

  test('has no secrets', async () => {
    const text = JSON.stringify(exported);
    const { body } = await source.asSession('GET', '/api/webhooks');
    const { secret } = (await source.asSession('GET', `/api/webhooks/${body.data[0].id}`)).body;
    const stored = await accountsD1
      .prepare('SELECT fingerprint, sealed FROM api_keys WHERE account_id = ?')
      .bind(source.accountId)
      .first<Record<string, string>>();
    for (const hidden of [
      source.apiKey,
      source.token,
      source.password,
      secret,
      ...Object.values(stored ?? {}),
    ])
      expect(text).not.toContain(hidden);
    expect(text).not.toMatch(/whsec_|sealed|password|fingerprint":"[0-9A-Za-z_-]{28}"/i);
  });

  test('breaks off without an end if something fails', async () => {
    await accountsD1.exec('ALTER TABLE license_changes RENAME TO gone');
    await expect(exportAll(source)).rejects.toThrow('The stream broke off.');
    await accountsD1.exec('ALTER TABLE gone RENAME TO license_changes');
  });

  test('reads the next page only when the client has taken one', async () => {
    let read = 0;
    const pages = async function* () {
      while (read < 10) yield [{ page: read++ }];
    };
    const reader = (await streamLines(pages(), { event: 'failed', accountId: '' })).getReader();
    expect(read).toBe(1);
    await reader.read();
    expect(read).toBe(2);
    await reader.cancel();
    expect(read).toBe(2);
  });
});

describe('an import of an export', () => {
  let target: Customer;
  let imported: Awaited<ReturnType<typeof importAs>>;

  beforeAll(async () => {
    target = await signUp();
    imported = await importAs(target, toLines(exported));
  });

  test('takes licenses, products and machines, and skips the other lines', () => {
    const { totals, answers } = imported;
    expect(answers.filter(({ result }) => result === 'failed')).toEqual([]);
    const taken = 2 + LICENSES + 5 + 1;
    expect(totals).toMatchObject({ created: taken, skipped: exported.length - taken, failed: 0 });
  });

  test('has the same export, except for ids and times', async () => {
    const again = await exportAll(target);
    for (const type of ['product', 'license', 'activation']) {
      const [before, after] = [exported, again].map((lines) => withoutIds(ofType(lines, type)));
      expect(after).toEqual(before);
    }
    expect(ofType(again, 'webhook')[0]).toMatchObject({
      url: 'https://example.com/hooks',
      events: ['license.created'],
      status: 'disabled',
    });
  });

  test('the machines keep their seats', async () => {
    const verify = (fingerprint: string) =>
      target.asKey('POST', '/api/v1/licenses/verify', { license_key: 'KEY-000025', fingerprint });
    expect((await verify('machine-2-of-25')).body).toMatchObject({
      code: 'valid',
      seats: { used: 1, limit: 2 },
    });
    expect((await verify('machine-1-of-25')).body.code).toBe('not_activated');
  });

  test('changes nothing when it is sent again', async () => {
    const { totals } = await importAs(target, toLines(exported));
    expect(totals).toMatchObject({ created: 0, updated: 0, unchanged: 2 + LICENSES + 5 + 1, failed: 0 });
  });
});
