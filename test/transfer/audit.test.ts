import { expect, test } from 'vitest';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { loseAnswerOf } from '../support/d1-queries.ts';
import { countedBytes, sumOfRows } from '../support/storage.ts';
import { sellerOn } from '../support/worlds.ts';
import { importAs, toLines } from './transfer.ts';

const machine = {
  type: 'activation',
  license_key: 'KEY-000001',
  fingerprint: 'machine-0001',
  activated_at: '2024-01-01T00:00:00Z',
};

const entriesOf = async (customer: Customer, query = 'action=license.import'): Promise<Json[]> =>
  (await customer.asSession('GET', `/api/audit-log?${query}`)).body.data;

const historyOf = async (customer: Customer, id: string): Promise<Json[]> =>
  (await customer.asSession('GET', `/api/v1/licenses/${id}/history`)).body.data;

test('each license that an import changes leads to the import’s entry in the audit log, with its totals', async () => {
  const customer = await sellerOn('scale');
  const keys = Array.from({ length: 600 }, (_, i) => `KEY-0000${i}`);
  const { answers } = await importAs(customer, toLines(keys.map((license_key) => ({ license_key }))));
  const suspended = keys.map((license_key) => ({ license_key, status: 'suspended' }));
  const changes = [...suspended, { license_key: 'no' }, { type: 'usage_day' }];
  await importAs(customer, toLines(changes), '?on_conflict=update');
  for (const { id } of [answers[0], answers[599]]) {
    const [changed, created] = await historyOf(customer, id);
    expect([changed?.action, created?.action]).toEqual(['suspended', 'created']);
    const by = { action: 'license.import', actor: { kind: 'session' } };
    expect(await entriesOf(customer, `id=${changed?.import_id}`)).toMatchObject([
      {
        ...by,
        details: { on_conflict: 'update', lines: 602, updated: 600, failed: 1, skipped: 1, created: 0 },
      },
    ]);
    const [entry] = await entriesOf(customer, `id=${created?.import_id}`);
    expect(created?.imported_at?.slice(0, 16)).toBe(entry?.at.slice(0, 16));
    expect([entry]).toMatchObject([{ ...by, details: { on_conflict: 'fail', lines: 600, created: 600 } }]);
  }
  expect((await entriesOf(customer)).map(({ details }) => details.created)).toEqual([0, 600]);
  expect(await countedBytes(customer.accountId)).toBe(await sumOfRows(customer.accountId));
  await customer.asSession('POST', `/api/v1/licenses/${answers[0].id}/reinstate`);
  expect((await historyOf(customer, answers[0].id))[0]).toMatchObject({
    action: 'reinstated',
    import_id: null,
  });
});

test('an import that reinstates and extends a license says so in its totals, and in the license’s history', async () => {
  const customer = await signUp();
  const license = await customer.createLicense({ license_key: 'KEY-000001', expires_at: '2099-01-01' });
  const perpetual = await customer.createLicense({ license_key: 'KEY-000002' });
  await customer.createLicense({ license_key: 'KEY-000003', expires_at: '2099-01-01' });
  await customer.asSession('POST', `/api/v1/licenses/${license.id}/suspend`);
  const changes = [
    { license_key: 'KEY-000001', status: 'active', expires_at: '2199-01-01' },
    { license_key: 'KEY-000002', status: 'revoked', expires_at: '2099-01-01' },
    { license_key: 'KEY-000003', status: 'suspended', expires_at: null },
    { license_key: 'KEY-000004', status: 'suspended' },
  ];
  await importAs(customer, toLines(changes), '?on_conflict=update');
  const [change] = await historyOf(customer, license.id);
  expect(change).toMatchObject({
    action: 'reinstated',
    changes: [
      { field: 'status', from: 'suspended', to: 'active' },
      { field: 'expires_at', from: '2099-01-01', to: '2199-01-01' },
    ],
  });
  expect((await historyOf(customer, perpetual.id))[0]).toMatchObject({ action: 'revoked' });
  const sessions = (await customer.asSession('GET', '/api/sessions')).body.data;
  expect(await entriesOf(customer, `id=${change?.import_id}`)).toMatchObject([
    {
      actor: { kind: 'session', id: sessions[0].id },
      details: { created: 1, updated: 3, suspended: 1, reinstated: 1, revoked: 1, extended: 2, shortened: 1 },
    },
  ]);
});

test('an import that changes nothing leaves no entry, and one of machines alone an entry with totals', async () => {
  const customer = await signUp();
  await importAs(customer, toLines([{ license_key: 'no' }]));
  expect(await entriesOf(customer)).toEqual([]);
  await customer.createLicense({ license_key: 'KEY-000001' });
  await importAs(customer, toLines([machine]));
  expect(await entriesOf(customer)).toMatchObject([{ details: { lines: 1, created: 1 } }]);
});

test('a line that undoes what another line of its import did leaves nothing in the license’s history', async () => {
  const customer = await signUp();
  const { id, license_key } = await customer.createLicense({ customer_name: 'Ann' });
  const changes = ['Bob', 'Ann'].map((customer_name) => ({ license_key, customer_name }));
  await importAs(customer, toLines(changes), '?on_conflict=update');
  expect((await historyOf(customer, id)).map(({ action }) => action)).toEqual(['created']);
});

test('an import records its totals and goes on after its first commit has had no answer', async () => {
  const customer = await sellerOn('scale');
  const keys = Array.from({ length: 600 }, (_, i) => `KEY-0000${i}`);
  const body = toLines([
    ...keys.map((license_key) => ({ license_key })),
    { ...machine, license_key: keys[0] },
  ]);
  const isLost = loseAnswerOf('insert into "licenses"');
  expect((await importAs(customer, body)).totals).toMatchObject({ created: 601, failed: 0 });
  expect(isLost()).toBe(true);
  expect(await entriesOf(customer)).toMatchObject([{ details: { lines: 601, created: 601 } }]);
});

test('an import says what it has changed, also if its commit has had no answer', async () => {
  const customer = await sellerOn('scale');
  const { license_key } = await customer.createLicense({ customer_name: 'Ann' });
  await customer.asSession('PUT', '/api/v1/products/loom', { name: 'Loom' });
  const changes = [
    { type: 'product', code: 'loom', name: 'The loom' },
    { license_key, customer_name: 'Bob', status: 'suspended' },
    { license_key: 'KEY-000001' },
  ];
  const isLost = loseAnswerOf('insert into "license_changes"');
  const { totals } = await importAs(customer, toLines(changes), '?on_conflict=update');
  expect(isLost()).toBe(true);
  expect(totals).toMatchObject({ created: 1, updated: 2, unchanged: 0 });
  expect(await entriesOf(customer)).toMatchObject([{ details: { created: 1, updated: 2, suspended: 1 } }]);
});
