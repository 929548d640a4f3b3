import { expect, test } from 'vitest';
import { openShop, paid } from '../stores/shop.ts';
import { charge, dispute, invoice, invoicePayment, session } from '../stores/stripe-bodies.ts';
import { openStripe } from '../stores/stripe-shop.ts';

const line = (price: string, product: string, end: string, amount = 900, quantity = 1) => ({
  amount,
  quantity,
  period: { start: 0, end: Date.parse(`${end}T10:00:00Z`) / 1_000 },
  pricing: { price_details: { price, product } },
});

test('a purchase of several things waits while one has no offer, and then has a license for each', async () => {
  const shop = await openStripe();
  await shop.ada.asSession('PUT', '/api/v1/products/loom', {});
  await shop.offer('price_a', { grant: 'subscription' });
  await shop.send(
    'invoice.paid',
    invoice({ n: 1 }, 1, '2099-01-01', {
      lines: { data: [line('price_a', 'prod_a', '2099-01-01'), line('price_b', 'prod_b', '2099-01-01')] },
    }),
  );
  expect(await shop.purchases()).toMatchObject([{ status: 'unmapped' }]);
  expect(await shop.licenses()).toEqual([]);
  await shop.offer('prod_b', { grant: 'subscription', product: 'loom' });
  expect(await shop.purchases()).toMatchObject([{ status: 'fulfilled' }]);
  expect(new Set((await shop.licenses()).map(({ product }) => product))).toEqual(new Set(['loom', 'mill']));
});

test('a purchase in test mode makes a license only for a store that accepts tests', async () => {
  const shop = await openStripe();
  await shop.offer('plink_1', { grant: 'perpetual' });
  await shop.send('checkout.session.completed', session(1, { payment_link: 'plink_1', livemode: false }), {
    livemode: false,
  });
  expect(await shop.purchases()).toMatchObject([{ status: 'pending', reason: 'test_mode', test: true }]);
  await shop.ada.asSession('PATCH', `/api/stores/${shop.storeId}`, { accept_test: true });
  await shop.send('checkout.session.completed', session(2, { payment_link: 'plink_1', livemode: false }), {
    livemode: false,
  });
  expect(await shop.licenses()).toMatchObject([{ metadata: { test: true } }]);
  const [first] = await shop.purchases('?status=pending');
  await shop.ada.asSession('POST', `/api/purchases/${first.id}/retry`);
  expect(await shop.licenses()).toHaveLength(2);
});

test('a license of a test purchase follows its refund, also once the store accepts no tests', async () => {
  const shop = await openStripe({ accept_test: true });
  const test = { livemode: false };
  await shop.offer('plink_1', { grant: 'perpetual' });
  await shop.send('checkout.session.completed', session(1, { payment_link: 'plink_1', ...test }), test);
  expect(await shop.licenses()).toMatchObject([{ status: 'active' }]);
  await shop.ada.asSession('PATCH', `/api/stores/${shop.storeId}`, { accept_test: false });
  const [{ id }] = (await shop.purchases()) as [{ id: string }];
  expect((await shop.ada.asSession('POST', `/api/purchases/${id}/retry`)).body.status).toBe('fulfilled');
  await shop.send('charge.refunded', { ...charge('1', 4_900, { amount: 4_900 }), ...test }, test);
  expect(await shop.purchases()).toMatchObject([{ status: 'refunded', reason: null }]);
  expect(await shop.licenses()).toMatchObject([{ status: 'revoked' }]);
});

test('a purchase is found by every id of the store’s, and a lost dispute is a refund', async () => {
  const shop = await openStripe();
  await shop.offer('price_pro', { grant: 'subscription' });
  await shop.send('invoice.paid', invoice({ n: 1 }, 1, '2099-01-01'));
  await shop.send('invoice_payment.paid', invoicePayment(1, 1));
  await shop.send('charge.refunded', charge('1_1', 300));
  await shop.send('charge.dispute.created', dispute('1_1', 'needs_response'));
  const [purchase] = await shop.purchases();
  expect(purchase.status).toBe('disputed');
  for (const q of ['in_1_1', 'sub_1', 'pi_1_1', 'ch_1_1', 'dp_1_1', 'cus_1', purchase.order])
    expect([q, (await shop.purchases(`?q=${q}`)).length]).toEqual([q, 1]);
  expect(await shop.licenses()).toMatchObject([{ status: 'suspended' }]);
  await shop.send('charge.dispute.closed', dispute('1_1', 'lost'));
  expect(await shop.licenses()).toMatchObject([{ status: 'revoked' }]);
  expect(await shop.purchases()).toMatchObject([{ status: 'refunded' }]);
});

test('the offer of a price counts before that of its product', async () => {
  const shop = await openStripe();
  await shop.ada.asSession('PUT', '/api/v1/products/loom', {});
  await shop.offer('prod_app', { grant: 'subscription', product: 'loom' });
  await shop.offer('price_pro', { grant: 'subscription' });
  await shop.send('invoice.paid', invoice({ n: 1 }, 1, '2099-01-01'));
  expect(await shop.licenses()).toMatchObject([{ product: 'mill' }]);
});

test('a partial refund of an order changes nothing, also if it is unknown what a renewal cost', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'subscription' });
  await shop.notify(paid('1', { period_end: '2099-01-31', amount: 100 }));
  await shop.notify({ type: 'renewed', order: '1', period_end: '2099-02-28' });
  await shop.notify({ type: 'refunded', order: '1', amount: 40 });
  expect(await shop.licenses()).toMatchObject([{ status: 'active', expires_at: '2099-02-28' }]);
  await shop.notify({ type: 'refunded', order: '1', amount: 100 });
  expect(await shop.licenses()).toMatchObject([{ status: 'revoked' }]);
});

test('a partial refund changes nothing, and a subscription that has ended has no days of grace', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'subscription', grace_days: 9 });
  await shop.notify(paid('1', { period_end: '2099-01-31', amount: 100 }));
  expect(await shop.licenses()).toMatchObject([{ terms: { grace_days: 9 }, expires_at: '2099-01-31' }]);
  await shop.notify({ type: 'refunded', order: '1', period_end: '2099-01-31', amount: 40 });
  expect(await shop.licenses()).toMatchObject([{ status: 'active', expires_at: '2099-01-31' }]);
  await shop.notify({ type: 'ended', order: '1' });
  expect(await shop.licenses()).toMatchObject([
    { terms: { grace_days: 0 }, expires_at: '2099-01-31', status: 'active' },
  ]);
  expect(await shop.purchases()).toMatchObject([{ status: 'ended' }]);
});

test('what a refund and a dispute do is what the offer says', async () => {
  const shop = await openShop();
  await shop.offer('a', { grant: 'perpetual', on_dispute: 'nothing', on_refund: 'nothing' });
  await shop.offer('b', { grant: 'perpetual', on_dispute: 'revoke', on_refund: 'suspend' });
  await shop.notify(paid('1', { offer: 'a' }));
  await shop.notify({ type: 'disputed', order: '1' });
  expect(await shop.licenses()).toMatchObject([{ status: 'active' }]);
  await shop.notify({ type: 'refunded', order: '1' });
  expect(await shop.licenses()).toMatchObject([{ status: 'active' }]);
  await shop.notify(paid('2', { offer: 'b' }));
  await shop.notify({ type: 'disputed', order: '2' });
  expect((await shop.licenses()).map(({ status }) => status)).toEqual(['active', 'revoked']);
  await shop.notify({ type: 'dispute_won', order: '2' });
  expect((await shop.licenses()).map(({ status }) => status)).toEqual(['active', 'active']);
  await shop.notify({ type: 'refunded', order: '2' });
  expect((await shop.licenses()).map(({ status }) => status)).toEqual(['active', 'suspended']);
});

test('a license that the seller has deleted is not made again', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'subscription' });
  await shop.notify(paid('1', { period_end: '2099-01-31' }));
  const [{ id }] = (await shop.licenses()) as [{ id: string }];
  expect((await shop.ada.asSession('DELETE', `/api/v1/licenses/${id}`)).status).toBe(200);
  await shop.notify({ type: 'renewed', order: '1', period_end: '2099-02-28' });
  expect(await shop.licenses()).toEqual([]);
});
