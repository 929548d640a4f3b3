import { is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { expect, test } from 'vitest';
import * as schema from '../../src/db/schema.ts';
import { type Json, signUp } from '../support/client.ts';
import { countRowsWritten } from '../support/d1-queries.ts';
import { accountsD1 } from '../support/databases.ts';
import { runHourly } from '../support/hourly.ts';
import { openPortal, signInByApplication } from '../support/portal.ts';
import { countedBytes, setCountedBytes, sumOfRows } from '../support/storage.ts';
import { sellerWithLicense } from '../support/worlds.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

/** A generator of the same numbers in every run. */
const seeded = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
  return seed / 2 ** 31;
};

test.for([1, 2])(
  'the counted bytes are the sum of the account’s rows after random changes (%i)',
  async (seed) => {
    const random = seeded(seed);
    const ada = await signUp();
    const slug = await openPortal(ada);
    const ownSession = async () => {
      const { id } = await ada.createLicense({ customer_email: 'own@example.com' });
      return signInByApplication(ada, slug, { license_id: id });
    };
    const text = (max: number) => 'ä'.repeat(Math.ceil(random() * max));
    const ids = async (): Promise<string[]> =>
      (await ada.asSession('GET', '/api/v1/licenses?limit=20')).body.data.map(({ id }: Json) => id);
    const some = async () => {
      const all = await ids();
      return all[Math.floor(random() * all.length)] ?? (await ada.createLicense()).id;
    };
    const fields = () => ({
      customer_name: text(40),
      metadata: { note: text(900) },
      customer_email: 'eve@example.com',
    });
    const line = () => ({ license_key: `IMPORTED-${Math.floor(random() * 5)}`, ...fields() });
    const product = () => `/api/v1/products/P${Math.floor(random() * 3)}`;
    const changes: (() => Promise<unknown>)[] = [
      () => ada.asSession('POST', '/api/v1/licenses/create', fields()),
      () =>
        ada.asKey('POST', '/api/v1/licenses/create', fields(), {
          'idempotency-key': `once-${'x'.repeat(random() * 200)}`,
        }),
      async () =>
        ada.asSession('PATCH', `/api/v1/licenses/${await some()}`, fields(), {
          'idempotency-key': `patch-${'x'.repeat(random() * 200)}`,
        }),
      () => ada.asSession('POST', '/api/create-api-key', {}, { 'idempotency-key': `key-${text(9).length}` }),
      () => ada.asKey('POST', '/api/v1/licenses/create', { license_key: 'TAKEN-BY-ANOTHER' }),
      async () => ada.asSession('PATCH', `/api/v1/licenses/${await some()}`, fields()),
      async () => ada.asSession('POST', `/api/v1/licenses/${await some()}/suspend`),
      async () => ada.asSession('POST', `/api/v1/licenses/${await some()}/rotate-key`, {}),
      async () => ada.asSession('DELETE', `/api/v1/licenses/${await some()}`),
      () => importAs(ada, toLines([line(), line(), line()]), '?on_conflict=update'),
      () => ada.asSession('PUT', product(), { name: text(60), terms: { entitlements: { note: text(200) } } }),
      () => ada.asSession('DELETE', product()),
      () => ada.asSession('PATCH', '/api/account', { name: text(30) }),
      () => ada.asSession('POST', '/api/init-payment', { plan: random() < 0.5 ? 'pro' : 'scale' }),
      async () => {
        const { body } = await ada.asSession('POST', '/api/create-api-key', { name: text(30) });
        await ada.asSession('GET', `/api/api-keys/${body.id}`);
        if (random() < 0.5)
          await ada.asSession('POST', `/api/api-keys/${body.id}/rotate`, { overlap_hours: 0 });
        else await ada.asSession('DELETE', `/api/api-keys/${body.id}`);
      },
      ownSession,
      async () => {
        const { asCustomer } = await ownSession();
        await asCustomer('POST', '/change-email', { email: `${text(9).length}@example.com` });
        if (random() < 0.5) await asCustomer('DELETE', '/session');
      },
      () => ada.asSession('POST', '/api/erase-customer', { customer_email: 'eve@example.com' }),
    ];
    for (let i = 0; i < 40; i++) {
      const change = changes[Math.floor(random() * changes.length)];
      await change?.();
      expect([i, await countedBytes(ada.accountId)]).toEqual([i, await sumOfRows(ada.accountId)]);
    }
    expect(await sumOfRows(ada.accountId)).toBeGreaterThan(5_000);
  },
);

test.for(['', 'x'.repeat(1_000)])('what is counted is about what D1 grows by', async (note) => {
  const ada = await signUp();
  const size = async () => (await accountsD1.prepare('SELECT 1').run()).meta.size_after;
  const before = await size();
  for (let batch = 0; batch < 4; batch++) {
    const lines = Array.from({ length: 400 }, (_, i) => ({
      customer_email: `${batch}-${i}@example.com`,
      metadata: { note },
    }));
    expect((await importAs(ada, toLines(lines))).totals.created).toBe(400);
  }
  const ratio = ((await countedBytes(ada.accountId)) ?? 0) / ((await size()) - before);
  expect(ratio).toBeGreaterThan(0.8);
  expect(ratio).toBeLessThan(1.3);
});

const sumOf = (written: Record<string, number>) =>
  Object.values(written).reduce((sum, rows) => sum + rows, 0);

test('counting the bytes costs a create no row', async () => {
  const { ada } = await sellerWithLicense();
  const create = (headers = {}) =>
    countRowsWritten(() => ada.asKey('POST', '/api/v1/licenses/create', {}, headers));
  // Two of them are the deleted feed rows of the change before.
  expect(sumOf(await create())).toBe(18);
  expect(sumOf(await create({ 'idempotency-key': 'once' }))).toBe(21);
});

test('an account that is older than the count is measured by the scheduled work, and counted from then on', async () => {
  const { ada, license } = await sellerWithLicense();
  await setCountedBytes(ada.accountId, null);
  await ada.createLicense();
  expect(await countedBytes(ada.accountId)).toBeNull();
  const dashboard = await ada.asSession('GET', '/api/dashboard');
  expect(dashboard.body.storage.used).toBe(0);
  await runHourly();
  expect(await countedBytes(ada.accountId)).toBe(await sumOfRows(ada.accountId));
  await ada.asSession('PATCH', `/api/v1/licenses/${license.id}`, { customer_name: 'Ada' });
  const counted = await countedBytes(ada.accountId);
  expect(counted).toBe(await sumOfRows(ada.accountId));
  expect((await ada.asSession('GET', '/api/dashboard')).body.storage.used).toBe(counted);
});

/** Tables of accounts whose bytes aren't counted, and what bounds them. */
const UNCOUNTED: Record<string, string> = {
  erasures: 'deleted once they are carried out',
  feed: 'deleted once the gate has applied them',
  license_counts: 'a row for a license at most, which counts it',
  license_totals: 'one row',
  object_states: 'two rows',
  portals: 'one row',
  search_accounts: 'one row',
  subscriptions: 'a row for each that was paid',
  expiry_pass: 'one row of the service',
  held_notices: 'bounded for an email address',
  known_browsers: 'bounded for an account',
  recovery_codes: 'ten rows',
  sessions: 'bounded for an account',
  user_tokens: 'bounded for an account by its emails',
  users: 'one row',
};

/** Texts of a fixed length, which the constant stands for. */
const FIXED = new Set([
  'account_id',
  'id',
  'license_id',
  'subscription_id',
  'change_id',
  'token_hash',
  'purpose',
  'import_id',
  'action',
  'actor_kind',
  'status',
  'expires_at',
  'updates_until',
  'scope',
  'fingerprint',
  'secret_id',
  'masked_key',
  'provider',
  'plan',
  'currency',
  'request_hash',
  'store_id',
  'purchase_id',
  'message_id',
  'hash',
  'grant',
  'quantity',
  'on_refund',
  'on_dispute',
  'set_status',
  'returns_to',
]);

test('all texts of an account’s tables are counted', async () => {
  const { results } = await accountsD1
    .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    .all<{ name: string; sql: string }>();
  const sqlOf = new Map(results.map(({ name, sql }) => [name, sql]));
  const tables = Object.values<unknown>(schema).filter((table) => is(table, SQLiteTable));
  const owned = tables
    .map(getTableConfig)
    .filter(({ columns }) => columns.some(({ name }) => name === 'account_id'));
  const uncounted = owned.flatMap(({ name: table, columns }) => {
    if (table in UNCOUNTED) return [];
    const [, counted = ''] =
      /`bytes` integer\s+GENERATED ALWAYS AS \((.*?)\) VIRTUAL/s.exec(sqlOf.get(table) ?? '') ?? [];
    return columns
      .filter(({ name, columnType }) => columnType.includes('Text') && !FIXED.has(name))
      .filter(({ name }) => !counted.includes(`octet_length(\`${name}\`)`))
      .map(({ name }) => `${table}.${name}`);
  });
  expect(uncounted).toEqual([]);
  expect(owned.length - Object.keys(UNCOUNTED).length).toBe(20);
});
