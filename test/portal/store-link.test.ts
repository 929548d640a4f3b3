import { expect, test } from 'vitest';
import { openShop, paid, SECRET } from '../stores/shop.ts';
import { outcomeOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { openPortal, signInByApplication } from '../support/portal.ts';

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

  const woo = { provider: 'woocommerce', name: 'Woo', secret: SECRET };
  const { body: store } = await ada.asSession('POST', '/api/stores', {
    ...woo,
    api_key: 'https://ck_1:cs_2@shop.example.com/store',
  });
  await accountsD1
    .prepare('UPDATE purchases SET store_id = ? WHERE account_id = ?')
    .bind(store.id, ada.accountId)
    .run();
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
