import { expect, test } from 'vitest';
import { outcomeOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { notify, openShop, paid } from './shop.ts';

const rowsIn = (table: string, storeId: string) =>
  accountsD1.prepare(`SELECT * FROM ${table} WHERE store_id = ?`).bind(storeId).all();

test('a payment makes a license, and its copies make no other', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1'));
  await shop.notify(paid('1'));
  const [license, ...others] = await shop.licenses();
  expect(others).toEqual([]);
  expect(license).toMatchObject({
    product: 'mill',
    status: 'active',
    expires_at: null,
    customer_email: 'grace@example.com',
  });
  const verdict = await shop.ada.verify(license.license_key);
  expect(verdict.body).toMatchObject({ status: 'active', code: 'fingerprint_required' });
});

test('ten copies at once make one license, and two purchases of one address two', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await Promise.all(Array.from({ length: 10 }, () => shop.notify(paid('1'))));
  expect(await shop.licenses()).toHaveLength(1);
  await shop.notify(paid('2'));
  expect(await shop.licenses()).toHaveLength(2);
});

test('a body that nobody has signed is refused, and leaves no row', async () => {
  const shop = await openShop();
  const wrong = await notify(shop.storeId, paid('1'), 'whsec_b3RoZXI=');
  expect(outcomeOf(wrong)).toBe('401 invalid_signature');
  expect(outcomeOf(await notify('sto_00000000000000000000', paid('1')))).toBe('404 not_found');
  expect((await rowsIn('store_messages', shop.storeId)).results).toEqual([]);
});

test('a body that can’t be read is kept with what is wrong with it, and is no error for the shop', async () => {
  const shop = await openShop();
  await shop.notify({ type: 'paid', order: '1' });
  await shop.notify({ type: 'shipped', order: '1' });
  const { results } = await rowsIn('store_messages', shop.storeId);
  expect(results.map(({ type, problem, body }) => [type, problem, body === null])).toEqual([
    [null, 'offer is required.', false],
    ['shipped', null, true],
  ]);
});

test('a refund known before its sale leaves nothing to give, and no license is made', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify({ type: 'refunded', order: '1' });
  await shop.notify(paid('1'));
  expect(await shop.licenses()).toEqual([]);
});

test('a subscription’s license ends with what is paid, and a refund takes one period away', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'subscription', grace_days: 5 });
  await shop.notify(paid('1', { period_end: '2099-01-31' }));
  await shop.notify({ type: 'renewed', order: '1', period_end: '2099-02-28' });
  const now = async () => {
    const [{ status, expires_at, terms }] = (await shop.licenses()) as [Record<string, unknown>];
    return [status, expires_at, terms];
  };
  expect(await now()).toEqual(['active', '2099-02-28', { grace_days: 5 }]);
  await shop.notify({ type: 'refunded', order: '1', period_end: '2099-02-28' });
  expect(await now()).toEqual(['active', '2099-01-31', { grace_days: 5 }]);
  await shop.notify({ type: 'disputed', order: '1' });
  expect(await now()).toEqual(['suspended', '2099-01-31', { grace_days: 5 }]);
  await shop.notify({ type: 'dispute_won', order: '1' });
  expect(await now()).toEqual(['active', '2099-01-31', { grace_days: 5 }]);
  await shop.notify({ type: 'ended', order: '1' });
  expect(await now()).toEqual(['active', '2099-01-31', { grace_days: 0 }]);
  await shop.notify({ type: 'refunded', order: '1', period_end: '2099-01-31' });
  expect((await now())[0]).toBe('revoked');
});

test('a quantity makes as many licenses, or as many seats', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.offer('team', { grant: 'perpetual', quantity: 'seats' });
  await shop.notify(paid('1', { quantity: 3 }));
  await shop.notify(paid('2', { offer: 'team', quantity: 30 }));
  expect((await shop.licenses()).map(({ terms }) => terms)).toEqual([{}, {}, {}, { max_activations: 30 }]);
});
