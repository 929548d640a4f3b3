import { expect, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { openShop, paid } from '../stores/shop.ts';
import type { Json } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';

test('a notification that is sent again is answered once every verify sees what the first one has changed', async () => {
  useFakeClock();
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1'));
  const [license] = (await shop.licenses()) as [Json];
  const verdict = async () => (await shop.ada.verify(license.license_key)).body.status;
  expect(await verdict()).toBe('active');
  const refund = { id: 'told-twice', type: 'refunded', order: '1' };
  // As if the first request had died between its commit and the gate's reading of it.
  const apply = vi
    .spyOn(AccountGate.prototype, 'apply')
    .mockRejectedValue(new Error('The request has died.'));
  await shop.notify(refund);
  apply.mockRestore();
  expect((await shop.licenses())[0]?.status).toBe('revoked');
  await shop.notify(refund);
  expect(await verdict()).toBe('revoked');
});
