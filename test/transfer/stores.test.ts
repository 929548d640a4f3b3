import { expect, test } from 'vitest';
import { openShop, paid, SECRET } from '../stores/shop.ts';
import { exportAll, ofType } from './transfer.ts';

test('an export has stores without their secrets, offers, and purchases with what the stores have said', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1001'));
  const [license] = await shop.licenses();
  const lines = await exportAll(shop.ada);
  expect(ofType(lines, 'store')).toMatchObject([{ id: shop.storeId, provider: 'generic', has_secret: true }]);
  expect(ofType(lines, 'offer')).toMatchObject([{ store_id: shop.storeId, ref: 'pro', product: 'mill' }]);
  expect(ofType(lines, 'purchase')).toMatchObject([
    {
      order: '1001',
      status: 'fulfilled',
      license_ids: [license.id],
      facts: [{ kind: 'paid', about: 'order/1001' }],
    },
  ]);
  expect(JSON.stringify(lines)).not.toContain(SECRET);
});

test('an export has what the emails to the buyers of each product say', async () => {
  const { ada } = await openShop();
  await ada.asSession('PATCH', '/api/v1/products/mill/mail', { intro: 'Open Mill and enter the key.' });
  expect(ofType(await exportAll(ada), 'product_mail')).toEqual([
    {
      type: 'product_mail',
      code: 'mill',
      from_name: null,
      intro: 'Open Mill and enter the key.',
      support_url: null,
    },
  ]);
});
