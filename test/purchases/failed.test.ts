import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import type { StoreFact, Thing } from '../../src/purchases/rules/facts.ts';
import { settle } from '../../src/purchases/settle.ts';
import { takeFacts } from '../../src/purchases/take.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { notify, openShop, paid, SECRET } from '../stores/shop.ts';
import { type Json, outcomeOf } from '../support/client.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { keepMails, mailsTo } from '../support/mails.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { verifyAddress } from '../support/sign-in.ts';

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

test('a purchase of too many licenses is decided again once its offer is for seats', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1', { quantity: 201 }));
  expect(await shop.purchases()).toMatchObject([{ status: 'failed', reason: 'too_many_licenses' }]);
  await shop.offer('pro', { grant: 'perpetual', quantity: 'seats' });
  expect(await shop.purchases()).toMatchObject([{ status: 'fulfilled', reason: null }]);
  expect(await shop.licenses()).toMatchObject([{ terms: { max_activations: 201 } }]);
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

test('what becomes of an erased customer’s purchase is taken also with other sales', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  const buyer = { email: 'lost@example.com', name: 'Lost Person' };
  const lines = [{ refs: ['pro'], quantity: 1 }];
  const sale = (about: Thing): StoreFact => ({ kind: 'paid', about, version: 1, buyer, lines });
  const disputed = (state: 'open' | 'won'): StoreFact => ({
    kind: 'disputed',
    about: 'sale/1',
    of: 'sale/1',
    state,
  });
  const take = (...facts: StoreFact[]) =>
    takeFacts(ctxOf(shop.ada.accountId), { id: shop.storeId, provider: 'gumroad' }, facts, null);
  const statuses = async () => (await shop.licenses()).map(({ status }) => status);
  await take(sale('sale/1'));
  await take(disputed('open'));
  expect(await statuses()).toEqual(['suspended']);
  await shop.ada.asSession('POST', '/api/erase-customer', { customer_email: buyer.email });
  await take(sale('sale/1'), disputed('won'), sale('sale/2'));
  expect(await statuses()).toEqual(['active', 'active']);
  const emails = (await shop.purchases()).map(({ customer_email }) => customer_email);
  expect(emails).toEqual([buyer.email, null]);
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

/** Works on all hints of an account, each of which may send another. Returns how many there were. */
const workOnHints = async (accountId: string): Promise<number> => {
  let [sent, worked] = [1, 0];
  const send = async () => {
    sent++;
  };
  const environment = Object.create(env, { WEBHOOKS: { value: { send } } }) as Env;
  for (; worked < sent && worked < 50; worked++) await workOnStores(environment, accountId);
  return worked;
};

test('many purchases that can never be decided don’t keep the others waiting', async () => {
  const shop = await openShop();
  const { storeId, ada } = shop;
  for (const order of ['1', '2', '3', '4', '5', '6', '7']) await shop.notify(paid(order));
  const set = (statement: string) => accountsD1.prepare(statement).bind(storeId).run();
  await set('UPDATE purchases SET decide_at = CAST(order_number AS INTEGER) WHERE store_id = ?');
  await set(
    `UPDATE purchase_facts SET fact = 'damaged' WHERE purchase_id IN
     (SELECT id FROM purchases WHERE store_id = ? AND order_number < '7')`,
  );
  const dueAfter = async (ms: number) => {
    const waiting = accountsD1.prepare(
      'SELECT order_number FROM purchases WHERE store_id = ? AND decide_at > ? ORDER BY order_number',
    );
    const { results } = await waiting.bind(storeId, Date.now() + ms).all();
    return results.map(({ order_number: order }) => order);
  };
  const damaged = ['1', '2', '3', '4', '5', '6'];
  expect(await workOnHints(ada.accountId)).toBeLessThan(12);
  expect(await dueAfter(0)).toEqual(damaged);
  expect(await dueAfter(60_000)).toEqual([]);
  await set('UPDATE purchases SET decide_at = 1 WHERE store_id = ? AND decide_at IS NOT NULL');
  await workOnHints(ada.accountId);
  expect(await dueAfter(3 * 60_000)).toEqual(damaged);
});

test('many notifications that can never be read don’t keep the others waiting', async () => {
  const shop = await openShop();
  for (const order of ['1', '2', '3', '4', '5', '6', '7']) await shop.notify(paid(order));
  const set = (statement: string) => accountsD1.prepare(statement).bind(shop.storeId).run();
  await set('UPDATE store_messages SET read_at = rowid, asks = NULL WHERE store_id = ?');
  await set(
    `UPDATE store_messages SET body = 'damaged' WHERE store_id = ?1
     AND rowid < (SELECT max(rowid) FROM store_messages WHERE store_id = ?1)`,
  );
  expect(await workOnHints(shop.ada.accountId)).toBeLessThan(12);
  const { results } = await accountsD1
    .prepare('SELECT read_at > ? AS waits, tries FROM store_messages WHERE store_id = ? ORDER BY rowid')
    .bind(Date.now(), shop.storeId)
    .all();
  expect(results).toEqual([
    ...Array.from({ length: 6 }, () => ({ waits: 1, tries: 1 })),
    { waits: null, tries: 0 },
  ]);
});

test('an email that can never be written doesn’t keep the others waiting', async () => {
  keepMails();
  const shop = await openShop();
  const { storeId, ada } = shop;
  await verifyAddress(ada.accountId);
  await shop.offer('pro', { grant: 'perpetual' });
  for (const order of ['1', '2', '3']) await shop.notify(paid(order, { email: `buyer${order}@example.com` }));
  await accountsD1
    .prepare("UPDATE licenses SET terms = 'damaged' WHERE account_id = ? AND customer_email = ?")
    .bind(ada.accountId, 'buyer1@example.com')
    .run();
  expect(await workOnHints(ada.accountId)).toBeLessThan(6);
  expect(['1', '2', '3'].map((order) => mailsTo(`buyer${order}@example.com`).length)).toEqual([0, 1, 1]);
  const { results } = await accountsD1
    .prepare(
      `SELECT tries, due_at > ? AS waits FROM purchase_mails
       WHERE purchase_id IN (SELECT id FROM purchases WHERE store_id = ?) AND sent_at IS NULL`,
    )
    .bind(Date.now(), storeId)
    .all();
  expect(results).toEqual([{ tries: 1, waits: 1 }]);
});
