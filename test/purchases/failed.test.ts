import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { settle } from '../../src/purchases/settle.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { notify, openShop, paid, SECRET } from '../stores/shop.ts';
import { type Json, outcomeOf } from '../support/client.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';

test('a suspended account’s purchases fail with the reason, and succeed when they are tried again', async () => {
  const stop = withOperatorToken();
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  expect((await asOperator('POST', `/operator/accounts/${shop.ada.accountId}/suspend`)).status).toBe(200);
  await shop.notify(paid('1'));
  expect((await asOperator('POST', `/operator/accounts/${shop.ada.accountId}/reinstate`)).status).toBe(200);
  const [purchase] = await shop.purchases();
  expect(purchase).toMatchObject({ status: 'failed', reason: 'account_suspended' });
  expect(await shop.licenses()).toEqual([]);
  const again = await shop.ada.asSession('POST', `/api/purchases/${purchase.id}/retry`);
  expect(again.body).toMatchObject({ status: 'fulfilled', reason: null, licenses: [{ status: 'active' }] });
  stop();
});

test('more licenses than a purchase may have fail it, and those of the limit do', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1', { quantity: 201 }));
  expect(await shop.purchases()).toMatchObject([{ status: 'failed', reason: 'too_many_licenses' }]);
  await shop.notify(paid('2', { quantity: 200 }));
  expect(await shop.licenses()).toHaveLength(100);
  expect(await shop.purchases('?status=fulfilled')).toHaveLength(1);
});

test('a replaced secret is accepted for a day, and a deleted store’s work ends', async () => {
  const shop = await openShop();
  await shop.notify(paid('1'));
  const path = `/api/stores/${shop.storeId}`;
  const other = 'whsec_b3RoZXJvdGhlcm90aGVyb3RoZXI=';
  expect(outcomeOf(await shop.ada.asSession('PATCH', path, { secret: other }))).toBe('200 ok');
  expect(outcomeOf(await notify(shop.storeId, paid('2'), SECRET))).toBe('200 ok');
  expect(outcomeOf(await notify(shop.storeId, paid('3'), other))).toBe('200 ok');
  await accountsD1.prepare('UPDATE purchases SET decide_at = 1 WHERE store_id = ?').bind(shop.storeId).run();
  expect(outcomeOf(await shop.ada.asSession('DELETE', path))).toBe('200 ok');
  expect(outcomeOf(await notify(shop.storeId, paid('4'), other))).toBe('404 not_found');
  const due = accountsD1.prepare(
    'SELECT count(*) AS n FROM purchases WHERE decide_at IS NOT NULL AND store_id = ?',
  );
  expect(await due.bind(shop.storeId).first('n')).toBe(0);
  expect(await shop.purchases()).toHaveLength(3);
});

test('a deleted store’s purchase that fails is not due again, since nobody works on it', async () => {
  const { ada, storeId, notify: tell, purchases } = await openShop();
  await tell(paid('1'));
  const [{ id }] = (await purchases()) as [Json];
  expect(outcomeOf(await ada.asSession('DELETE', `/api/stores/${storeId}`))).toBe('200 ok');
  await accountsD1.prepare('UPDATE accounts SET suspended_at = 1 WHERE id = ?').bind(ada.accountId).run();
  await settle(
    ctxOf(ada.accountId),
    { id: storeId, provider: 'generic' },
    { purchaseIds: [id], assign: 'mill' },
  );
  const row = accountsD1.prepare('SELECT status, reason, decide_at FROM purchases WHERE id = ?').bind(id);
  expect(await row.first()).toEqual({ status: 'failed', reason: 'account_suspended', decide_at: null });
});

test('a customer who was erased is not brought back by a later copy', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  const body = { id: 'n', ...paid('1', { email: 'lost@example.com', name: 'Lost Person' }) };
  await shop.notify(JSON.stringify(body));
  await shop.ada.asSession('POST', '/api/erase-customer', { customer_email: 'lost@example.com' });
  await shop.notify(JSON.stringify({ ...body, id: 'n2' }));
  await shop.notify({ type: 'refunded', order: '1', name: 'Lost Person' });
  const [purchase] = await shop.purchases();
  expect(purchase).toMatchObject({ status: 'refunded', customer_email: null, customer_name: null });
  const { body: details } = await shop.ada.asSession('GET', `/api/purchases/${purchase.id}`);
  expect(JSON.stringify(details)).not.toMatch(/lost@|Lost Person/);
  const kept = accountsD1.prepare(
    'SELECT count(*) AS n FROM store_messages WHERE body IS NOT NULL AND store_id = ?',
  );
  expect(await kept.bind(shop.storeId).first('n')).toBe(0);
  expect((await shop.licenses()).map(({ status }) => status)).toEqual(['revoked']);
});

test('a customer whose address was changed is erased from what they bought, and nobody else is', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1', { email: 'old@example.com', name: 'Lost Person' }));
  await shop.notify(paid('2', { email: 'grace@example.com', name: 'Grace Hopper', quantity: 2 }));
  const licenses = await shop.licenses();
  for (const { id } of licenses.slice(0, 2))
    await shop.ada.asSession('PATCH', `/api/v1/licenses/${id}`, { customer_email: 'new@example.com' });
  const erase = { customer_email: 'new@example.com' };
  expect((await shop.ada.asSession('POST', '/api/erase-customer', erase)).body.licenses).toBe(2);
  const names = async () => (await shop.purchases()).map(({ customer_name }) => customer_name);
  expect(await names()).toEqual(['Grace Hopper', null]);
  await shop.notify(paid('1', { email: 'old@example.com', name: 'Lost Person', amount: 5 }));
  expect(await names()).toEqual(['Grace Hopper', null]);
  const [, { id }] = (await shop.purchases()) as [Json, { id: string }];
  const { body } = await shop.ada.asSession('GET', `/api/purchases/${id}`);
  expect(JSON.stringify(body)).not.toMatch(/old@|Lost Person/);
});

test('a purchase that can never be decided doesn’t keep the others waiting', async () => {
  const shop = await openShop();
  for (const order of ['1', '2']) await shop.notify(paid(order));
  const due = accountsD1.prepare(
    'UPDATE purchases SET decide_at = CAST(order_number AS INTEGER) WHERE store_id = ?',
  );
  const damaged = accountsD1.prepare(
    `UPDATE purchase_facts SET fact = 'damaged' WHERE purchase_id =
     (SELECT id FROM purchases WHERE store_id = ? AND order_number = '1')`,
  );
  const { storeId, ada } = shop;
  await accountsD1.batch([due.bind(storeId), damaged.bind(storeId)]);
  for (let step = 0; step < 3; step++) await workOnStores(env, ada.accountId).catch(() => undefined);
  const waiting = accountsD1.prepare(
    'SELECT order_number FROM purchases WHERE store_id = ? AND decide_at <= ?',
  );
  expect((await waiting.bind(storeId, Date.now()).all()).results).toEqual([]);
});
