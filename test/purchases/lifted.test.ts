import { expect, test } from 'vitest';
import { openShop, paid } from '../stores/shop.ts';

test('a license that a refund has revoked is valid again once another payment of its purchase is known', async () => {
  const { ada, offer, notify, licenses } = await openShop();
  await offer('pro', { grant: 'subscription' });
  await notify(paid('1', { period_end: '2099-03-31' }));
  const [{ license_key }] = (await licenses()) as [{ license_key: string }];
  const status = async () => (await ada.verify(license_key)).body.status;
  expect(await status()).toBe('active');
  await notify({ type: 'refunded', order: '1', period_end: '2099-03-31' });
  expect(await status()).toBe('revoked');
  // Its notification has come late.
  await notify({ type: 'renewed', order: '1', period_end: '2099-02-28' });
  expect(await licenses()).toMatchObject([{ status: 'active', expires_at: '2099-02-28' }]);
  expect(await status()).toBe('active');
});
