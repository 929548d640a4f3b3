import { expect, test } from 'vitest';
import { customer } from '../stores/bodies/paddle.ts';
import { openPaddle } from '../stores/paddle-shop.ts';
import { openShop, paid, type Shop } from '../stores/shop.ts';
import { accountsD1 } from '../support/databases.ts';

// A customer's address was corrected since, and they are erased by the new one.

/**
 * Returns the tables that have a text in a row of the shop's account. The history of a license isn't among them: whom it names of
 * before may be somebody else, from whom it was bought.
 */
const findIn = async ({ ada }: Shop, text: string): Promise<string[]> => {
  const tables = [
    'purchases',
    'purchase_facts',
    'purchase_things',
    'purchase_licenses',
    'store_messages',
    'feed',
    'licenses',
    'audit_log',
  ];
  const found = await Promise.all(
    tables.map(async (table) => {
      const rows = await accountsD1
        .prepare(`SELECT * FROM ${table} WHERE account_id = ?`)
        .bind(ada.accountId)
        .all();
      return JSON.stringify(rows.results).includes(text) ? [table] : [];
    }),
  );
  return found.flat();
};

const erase = ({ ada }: Shop, email: string) =>
  ada.asSession('POST', '/api/erase-customer', { customer_email: email });

test('what the store has told of its customer goes with a customer who has another address by now', async () => {
  const shop = await openPaddle();
  await shop.sell('txn_1');
  await shop.send('customer.created', customer({ email: 'old@example.com', name: 'Lost Person' }));
  const [license] = await shop.licenses();
  const path = `/api/v1/licenses/${license.id}`;
  await shop.ada.asSession('PATCH', path, { customer_email: 'new@example.com', customer_name: null });
  expect(await findIn(shop, 'old@example.com')).toContain('purchase_facts');
  await erase(shop, 'new@example.com');
  expect(await findIn(shop, 'old@example.com')).toEqual([]);
  expect(await findIn(shop, 'Lost Person')).toEqual([]);
  // A later copy brings nobody back.
  await shop.send('customer.updated', customer({ email: 'old@example.com', name: 'Lost Person' }));
  expect(await findIn(shop, 'old@example.com')).toEqual([]);
});

test('of a customer who was erased no later body is kept that the store sends of them alone', async () => {
  const shop = await openPaddle();
  const countBodies = () =>
    accountsD1
      .prepare('SELECT count(*) AS n FROM store_messages WHERE body IS NOT NULL AND store_id = ?')
      .bind(shop.storeId)
      .first('n');
  await shop.send('customer.created', customer({ email: 'lost@example.com' }));
  await shop.sell('txn_1');
  expect(await countBodies()).toBe(2);
  await erase(shop, 'lost@example.com');
  expect(await countBodies()).toBe(0);
  await shop.send('customer.updated', customer({ email: 'lost@example.com', name: 'Lost Person' }));
  expect(await countBodies()).toBe(0);
});

test('what the store has told of its customer stays for another purchase that isn’t erased', async () => {
  const shop = await openPaddle();
  for (const id of ['txn_1', 'txn_2']) await shop.sell(id);
  await shop.send('customer.created', customer({ email: 'old@example.com', name: 'Kept Person' }));
  const [first] = await shop.licenses();
  await shop.ada.asSession('PATCH', `/api/v1/licenses/${first.id}`, { customer_email: 'new@example.com' });
  await erase(shop, 'new@example.com');
  await shop.sell('txn_2');
  const kept = async () =>
    (await shop.purchases()).map(({ customer_email }): string | null => customer_email);
  expect(await kept()).toEqual(['old@example.com', null]);
});

test('what the store tells of its customer stays when somebody is erased whose address is a part of theirs', async () => {
  const shop = await openPaddle();
  await shop.send('customer.created', customer({ email: 'joann@shop.co', name: 'Joann Poe' }));
  expect((await erase(shop, 'ann@shop.co')).status).toBe(200);
  await shop.sell('txn_1');
  expect(await shop.purchases()).toMatchObject([
    { customer_email: 'joann@shop.co', customer_name: 'Joann Poe' },
  ]);
});

test('a number of an order that has the address goes with it, and the purchase stays', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1', { email: 'old@example.com' }));
  const number = 'old@example.com-1';
  for (const statement of [
    `UPDATE purchases SET order_number = ?1 WHERE store_id = ?2`,
    `UPDATE purchase_facts SET fact = json_set(fact, '$.number', ?1) WHERE store_id = ?2`,
  ])
    await accountsD1.prepare(statement).bind(number, shop.storeId).run();
  const [license] = await shop.licenses();
  const path = `/api/v1/licenses/${license.id}`;
  await shop.ada.asSession('PATCH', path, { customer_email: 'new@example.com' });
  await erase(shop, 'new@example.com');
  expect(await findIn(shop, 'old@example.com')).toEqual([]);
  await shop.notify({ type: 'refunded', order: '1' });
  expect(await shop.purchases()).toMatchObject([{ order: null, status: 'refunded' }]);
});
