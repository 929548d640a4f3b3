import { expect, test } from 'vitest';
import { openShop, paid, SECRET, type Shop } from '../stores/shop.ts';
import { type Json, outcomeOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { openPortal, signInByApplication } from '../support/portal.ts';

/** Lets the purchases of a seller be of a store that has a page for customers. */
const soldBy = async ({ ada }: Shop, provider: string, api_key: string) => {
  const input = { provider, name: 'Shop', secret: SECRET, api_key };
  const { body: store } = await ada.asSession('POST', '/api/stores', input);
  await accountsD1
    .prepare('UPDATE purchases SET store_id = ? WHERE account_id = ?')
    .bind(store.id, ada.accountId)
    .run();
};

const soldByWooCommerce = (shop: Shop) =>
  soldBy(shop, 'woocommerce', 'https://ck_1:cs_2@shop.example.com/store');

test('a customer opens the page of the store that sold the license, where it has one', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1'));
  const { ada } = shop;
  const [license] = await shop.licenses();
  const slug = await openPortal(ada);
  const { asCustomer } = await signInByApplication(ada, slug, { customer_email: 'grace@example.com' });
  const path = `/licenses/${license.id}`;
  // A shop of the seller's own has no page that Latchkey knows.
  expect((await asCustomer('GET', path)).body.has_store_page).toBe(false);
  expect(outcomeOf(await asCustomer('POST', `${path}/store-link`, {}))).toBe('404 not_found');

  await soldByWooCommerce(shop);
  expect((await asCustomer('GET', '/licenses')).body.data).toMatchObject([{ has_store_page: true }]);
  const link = await asCustomer('POST', `${path}/store-link`, {});
  expect(link.body).toEqual({ url: 'https://shop.example.com/store/my-account/' });

  const other = await ada.createLicense({ customer_email: 'eve@example.com' });
  const eve = await signInByApplication(ada, slug, { customer_email: 'eve@example.com' });
  expect(outcomeOf(await eve.asCustomer('POST', `${path}/store-link`, {}))).toBe('404 license_not_found');
  expect(outcomeOf(await eve.asCustomer('POST', `/licenses/${other.id}/store-link`, {}))).toBe(
    '404 not_found',
  );
});

test('the page of a store is open to whoever bought the license, and not to whom it belongs by now', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1', { email: 'Grace@Example.com', quantity: 2 }));
  await soldByWooCommerce(shop);
  const { ada } = shop;
  const [given, kept] = await shop.licenses();
  await ada.asSession('PATCH', `/api/v1/licenses/${given.id}`, { customer_email: 'bob@example.com' });
  const slug = await openPortal(ada);
  const as = async (customer_email: string, { id }: Json) => {
    const { asCustomer } = await signInByApplication(ada, slug, { customer_email });
    const { body } = await asCustomer('GET', `/licenses/${id}`);
    return [body.has_store_page, outcomeOf(await asCustomer('POST', `/licenses/${id}/store-link`, {}))];
  };
  expect(await as('bob@example.com', given)).toEqual([false, '404 not_found']);
  expect(await as('grace@example.com', kept)).toEqual([true, '200 ok']);
});

test('a purchase whose buyer is no customer of the store’s offers no page that only those have', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1'));
  await soldBy(shop, 'stripe', 'rk_live_x');
  const { ada } = shop;
  const [license] = await shop.licenses();
  const slug = await openPortal(ada);
  const { asCustomer } = await signInByApplication(ada, slug, { customer_email: 'grace@example.com' });
  const hasPage = async () => (await asCustomer('GET', `/licenses/${license.id}`)).body.has_store_page;
  expect(await hasPage()).toBe(false);
  await accountsD1
    .prepare("UPDATE purchases SET buyer_ref = 'customer/cus_1' WHERE account_id = ?")
    .bind(ada.accountId)
    .run();
  expect(await hasPage()).toBe(true);
});
