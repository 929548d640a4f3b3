import { beforeEach, expect, test } from 'vitest';
import { openShop, paid } from '../stores/shop.ts';
import { call, type Customer, type Json, outcomeOf, signUp } from '../support/client.ts';
import { countRowsRead } from '../support/d1-queries.ts';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { insertLicenses } from '../support/licenses.ts';

beforeEach(() => {
  useFakeClock('2027-03-01T12:00:00.000Z');
});

const page = async (ada: Customer, query: Record<string, string> = {}): Promise<Json> => {
  const { status, body } = await ada.asSession(
    'GET',
    `/api/v1/customers?${new URLSearchParams(query).toString()}`,
  );
  expect([query, status]).toEqual([query, 200]);
  return body;
};

const everyPage = async (ada: Customer, query: Record<string, string> = {}): Promise<Json[]> => {
  const customers: Json[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { data, next_cursor }: Json = await page(ada, { limit: '2', ...query, ...(cursor && { cursor }) });
    customers.push(...data);
    cursor = next_cursor;
  }
  return customers;
};

const emails = (customers: Json[]): string[] => customers.map(({ customer_email }) => customer_email);

const furnish = async (ada: Customer) => {
  await ada.createLicense({
    customer_email: 'grace@navy.example',
    customer_name: 'Grace',
    customer_company: 'Navy',
  });
  await ada.createLicense({ customer_email: 'jose@example.com', customer_name: 'José Müller' });
  await ada.createLicense({ customer_email: 'ada@example.com', product: 'grace' });
  await ada.createLicense({ customer_email: 'Grace@Navy.example', customer_name: 'Grace Hopper' });
  await ada.createLicense({ customer_email: 'zoe@example.com' });
};

test('customers are listed by email address, once each, as their newest license has them', async () => {
  const ada = await signUp();
  expect(await page(ada)).toEqual({ data: [], next_cursor: null });
  await furnish(ada);
  const customers = await everyPage(ada);
  expect(emails(customers)).toEqual([
    'ada@example.com',
    'grace@navy.example',
    'jose@example.com',
    'zoe@example.com',
  ]);
  expect(customers[1]).toEqual({
    customer_email: 'grace@navy.example',
    customer_name: 'Grace Hopper',
    customer_company: null,
    licenses: 2,
    purchases: 0,
    last_license_at: expect.stringMatching(/^2027-03-01T12:00/) as string,
  });
  expect(await everyPage(ada, { limit: '100' })).toEqual(customers);
});

test('a search finds customers by all words of their newest license, and no license besides', async () => {
  const ada = await signUp();
  await furnish(ada);
  const find = async (q: string) => emails(await everyPage(ada, { q })).toSorted();
  expect(await find('grace')).toEqual(['grace@navy.example']);
  expect(await find('hopper navy')).toEqual(['grace@navy.example']);
  expect(await find('jose muller')).toEqual(['jose@example.com']);
  expect(await find('GRACE@NAVY.EXAMPLE')).toEqual(['grace@navy.example']);
  expect(await find('zo')).toEqual(['zoe@example.com']);
  expect(await find('example')).toEqual(emails(await everyPage(ada)));
  expect(await find('nobody')).toEqual([]);
});

test('an account sees only its own customers, and a key of an application sees none', async () => {
  const [ada, bob] = [await signUp(), await signUp()];
  await furnish(ada);
  await bob.createLicense({ customer_email: 'bobs@example.com' });
  expect(emails(await everyPage(bob))).toEqual(['bobs@example.com']);
  expect(emails(await everyPage(bob, { q: 'grace' }))).toEqual([]);
  const { body: key } = await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' });
  const refused = await call('GET', '/api/v1/customers', { headers: { 'x-api-key': key.api_key } });
  expect(outcomeOf(refused)).toBe('403 insufficient_scope');
  expect(outcomeOf(await ada.asSession('GET', '/api/v1/customers?cursor=1'))).toBe('400 invalid_request');
  expect(outcomeOf(await ada.asSession('GET', '/api/v1/customers?cursor=x&q=grace'))).toBe(
    '400 invalid_request',
  );
});

test('an erased customer is in no list', async () => {
  const ada = await signUp();
  await furnish(ada);
  await ada.asSession('POST', '/api/erase-customer', { customer_email: 'grace@navy.example' });
  expect(emails(await everyPage(ada))).toEqual(['ada@example.com', 'jose@example.com', 'zoe@example.com']);
  for (const q of ['hopper', 'navy', 'erased']) expect([q, await everyPage(ada, { q })]).toEqual([q, []]);
});

test('a page reads a few rows for each customer, and a bounded number of their licenses', async () => {
  const ada = await signUp();
  for (let i = 10; i < 40; i++) await ada.createLicense({ customer_email: `customer-${i}@example.com` });
  const read = await countRowsRead(() => page(ada, { limit: '20' }));
  expect(read).toBeLessThan(150);
  // They belong to ada@example.com.
  await insertLicenses(ada, { count: 1_000, product: 'Orrery' });
  const many = await countRowsRead(async () => {
    const { data } = await page(ada, { limit: '1' });
    expect(data).toMatchObject([{ customer_email: 'ada@example.com', licenses: 100 }]);
  });
  expect(many).toBeLessThan(150);
});

test('a customer’s purchases are counted by a few entries of an index', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  for (const order of ['1', '2']) await shop.notify(paid(order, { email: 'Grace@Example.com' }));
  await shop.notify(paid('3', { email: 'zoe@example.com', quantity: 2 }));
  await shop.ada.createLicense({ customer_email: 'bob@example.com' });
  const counts = async () =>
    (await page(shop.ada)).data.map(({ customer_email, licenses, purchases }: Json) =>
      [customer_email.toLowerCase(), licenses, purchases].join(' '),
    );
  expect(await counts()).toEqual(['bob@example.com 1 0', 'grace@example.com 2 2', 'zoe@example.com 2 1']);
  await accountsD1
    .prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
       INSERT INTO purchases SELECT 'pur_' || printf('%020d', i), p.account_id, p.store_id, p.provider, p.status, p.reason,
         p.order_number, p.customer_email, p.customer_name, p.buyer_ref, p.is_test, p.is_erased, p.assigned, p.decide_at,
         p.tries, p.version, p.created_at, p.updated_at
       FROM purchases p, n WHERE p.account_id = ? AND p.order_number = '1'`,
    )
    .bind(shop.ada.accountId)
    .run();
  const read = await countRowsRead(async () => {
    expect((await counts())[1]).toBe('grace@example.com 2 100');
  });
  expect(read).toBeLessThan(150);
});
