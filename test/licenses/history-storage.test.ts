import { expect, test } from 'vitest';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const patch = async (ada: Customer, license: Json, body: object) => {
  const { status } = await ada.asSession('PATCH', `/api/v1/licenses/${license.id}`, body);
  expect(status).toBe(200);
};

const storedChanges = async (license: Json) => {
  const query = 'SELECT seq, "before", "after" FROM license_changes WHERE license_id = ? ORDER BY seq';
  const { results } = await accountsD1.prepare(query).bind(license.id).all<Record<string, string>>();
  return results.map(({ seq, before = '', after = '' }) => ({
    seq,
    before: JSON.parse(before),
    after: JSON.parse(after),
  }));
};

/** Stores changes as a service without a limit left them. */
const addOldChanges = (ada: Customer, license: Json, count: number) =>
  accountsD1
    .prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
     INSERT INTO license_changes
     SELECT ?, ?, n, n, json_object('product', 'P' || (n - 1)), json_object('product', 'P' || n) FROM numbers`,
    )
    .bind(count, ada.accountId, license.id)
    .run();

test('a history row stores only the fields whose value changed', async () => {
  const ada = await signUp();
  const fields = { product: 'Orrery', customer_name: 'Ada', metadata: { note: 'x'.repeat(4_000) } };
  const license = await ada.createLicense(fields);
  await patch(ada, license, { ...fields, customer_name: 'Grace', expires_at: null });
  await patch(ada, license, { ...fields, customer_name: null, metadata: { note: 'y' } });
  const by = { kind: 'session', id: expect.any(String) };
  expect(await storedChanges(license)).toEqual([
    { seq: 1, before: { customer_name: 'Ada' }, after: { customer_name: 'Grace', by } },
    {
      seq: 2,
      before: { customer_name: 'Grace', metadata: fields.metadata },
      after: { customer_name: null, metadata: { note: 'y' }, by },
    },
  ]);
});

test.for([198, 199, 200, 500])('after %i changes, another two leave the latest 200', async (count) => {
  const ada = await signUp();
  const [license, other] = [await ada.createLicense(), await ada.createLicense()];
  await addOldChanges(ada, license, count);
  await addOldChanges(ada, other, 200);
  await patch(ada, license, { product: 'next to last' });
  await patch(ada, license, { product: 'last' });
  const stored = await storedChanges(license);
  expect([stored.length, stored[0]?.seq, stored.at(-1)?.after.product]).toEqual([
    200,
    count + 2 - 199,
    'last',
  ]);
  expect(await storedChanges(other)).toHaveLength(200);

  const entries: Json[] = [];
  for (let cursor = ''; ;) {
    const path = `/api/v1/licenses/${license.id}/history?limit=100${cursor && `&cursor=${cursor}`}`;
    const { body } = await ada.asSession('GET', path);
    entries.push(...body.data);
    if (body.next_cursor === null) break;
    cursor = body.next_cursor;
  }
  expect(entries.map(({ action }) => action)).toEqual([
    ...Array.from({ length: 200 }, () => 'changed'),
    'created',
  ]);
});

test('an update that changes nothing deletes no history', async () => {
  const { ada, license } = await sellerWithLicense({ product: 'Orrery' });
  await addOldChanges(ada, license, 200);
  await patch(ada, license, { product: 'Orrery' });
  expect(await storedChanges(license)).toHaveLength(200);
});
