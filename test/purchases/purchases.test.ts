import { expect, test } from 'vitest';
import { openShop, paid } from '../stores/shop.ts';
import { outcomeOf } from '../support/client.ts';

test('saving an offer fulfills what was bought before, and a purchase is found by whatever people know', async () => {
  const shop = await openShop();
  await shop.notify(paid('1001'));
  expect(await shop.purchases()).toMatchObject([{ status: 'unmapped', reason: 'no_offer', order: '1001' }]);
  expect(await shop.licenses()).toEqual([]);
  await shop.offer('pro', { grant: 'perpetual' });
  const [license] = await shop.licenses();
  const [purchase] = await shop.purchases('?status=fulfilled');
  for (const q of ['GRACE@example.com', 'grace@', '1001', license.license_key])
    expect(await shop.purchases(`?q=${encodeURIComponent(q)}`)).toEqual([purchase]);
  expect(await shop.purchases('?q=1002')).toEqual([]);
  const { body } = await shop.ada.asKey('GET', `/api/purchases/${purchase.id}`);
  expect(body).toMatchObject({
    status: 'fulfilled',
    customer_email: 'grace@example.com',
    facts: [{ kind: 'paid', about: 'order/1001' }],
    licenses: [{ id: license.id, product: 'mill', status: 'active' }],
    mails: [{ sent_at: null }],
  });
});

test('a seller names the product of a purchase that no offer is for, once', async () => {
  const shop = await openShop();
  await shop.notify(paid('1', { period_end: '2099-01-31' }));
  const [{ id }] = (await shop.purchases()) as [{ id: string }];
  const assign = (product: string) => shop.ada.asSession('POST', `/api/purchases/${id}/assign`, { product });
  expect(outcomeOf(await assign('mil'))).toBe('400 invalid_request');
  expect((await assign('mill')).body).toMatchObject({
    status: 'fulfilled',
    licenses: [{ product: 'mill', expires_at: '2099-01-31' }],
  });
  expect(outcomeOf(await assign('mill'))).toBe('409 invalid_transition');
  await shop.notify({ type: 'renewed', order: '1', period_end: '2099-02-28' });
  expect((await shop.licenses())[0].expires_at).toBe('2099-02-28');
});
