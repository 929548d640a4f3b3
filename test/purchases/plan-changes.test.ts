import { expect, test } from 'vitest';
import { openShop, paid } from '../stores/shop.ts';
import { charge, invoice, invoicePayment } from '../stores/stripe-bodies.ts';
import { openStripe } from '../stores/stripe-shop.ts';

test('a change of plan gives the license the terms of the new offer', async () => {
  const shop = await openShop();
  await shop.offer('solo', {
    grant: 'subscription',
    terms: { max_activations: 1, entitlements: { export: false } },
  });
  await shop.offer('team', {
    grant: 'subscription',
    terms: { max_activations: 5, entitlements: { export: true } },
  });
  await shop.notify(paid('1', { offer: 'solo', period_end: '2099-01-31' }));
  await shop.notify({ type: 'renewed', order: '1', offer: 'team', period_end: '2099-02-28' });
  const [license] = await shop.licenses();
  expect(license).toMatchObject({
    expires_at: '2099-02-28',
    terms: { max_activations: 5, entitlements: { export: true }, grace_days: 7 },
  });
});

test('the refund of a change of plan takes the change back', async () => {
  const shop = await openShop();
  await shop.ada.asSession('PUT', '/api/v1/products/loom', {});
  await shop.offer('solo', { grant: 'subscription', terms: { max_activations: 1 } });
  await shop.offer('team', { grant: 'subscription', product: 'loom', terms: { max_activations: 5 } });
  await shop.notify(paid('1', { offer: 'solo', period_end: '2099-01-31' }));
  await shop.notify({ type: 'renewed', order: '1', offer: 'team', period_end: '2099-02-28' });
  expect(await shop.licenses()).toMatchObject([{ product: 'loom' }]);
  await shop.notify({ type: 'refunded', order: '1', period_end: '2099-02-28' });
  expect(await shop.licenses()).toMatchObject([
    { product: 'mill', status: 'active', expires_at: '2099-01-31', terms: { max_activations: 1 } },
  ]);
  await shop.notify({ type: 'refunded', order: '1', period_end: '2099-01-31' });
  expect(await shop.licenses()).toMatchObject([{ status: 'revoked' }]);
});

test('a change of plan to a product that was deleted keeps the license’s own until there is one', async () => {
  const shop = await openShop();
  const { asSession } = shop.ada;
  await asSession('PUT', '/api/v1/products/loom', {});
  await shop.offer('solo', { grant: 'subscription', terms: { max_activations: 1 } });
  await shop.offer('team', { grant: 'subscription', product: 'loom', terms: { max_activations: 5 } });
  expect((await asSession('DELETE', '/api/v1/products/loom')).status).toBe(200);
  const upgrade = async (order: string) => {
    await shop.notify(paid(order, { offer: 'solo', period_end: '2099-01-31' }));
    await shop.notify({ type: 'renewed', order, offer: 'team', period_end: '2099-02-28' });
  };
  await upgrade('1');
  const kept = { product: 'mill', terms: { max_activations: 1 }, expires_at: '2099-02-28' };
  expect(await shop.licenses()).toMatchObject([{ ...kept, status: 'active' }]);
  const [purchase] = await shop.purchases();
  expect(purchase).toMatchObject({ status: 'failed', reason: 'product_not_found' });
  await upgrade('2');
  await shop.notify({ type: 'refunded', order: '2' });
  expect(await shop.purchases('?q=2')).toMatchObject([{ status: 'refunded', reason: null }]);
  expect(await shop.licenses()).toMatchObject([{ status: 'active' }, { ...kept, status: 'revoked' }]);
  await asSession('PUT', '/api/v1/products/loom', {});
  const again = await asSession('POST', `/api/purchases/${purchase.id}/retry`);
  expect(again.body).toMatchObject({ status: 'fulfilled', reason: null });
  expect(await shop.licenses()).toMatchObject([
    { ...kept, product: 'loom', terms: { max_activations: 5 } },
    { product: 'mill' },
  ]);
});

test('seats follow the last paid invoice, and licenses are never fewer than were made', async () => {
  const shop = await openShop();
  await shop.offer('seats', { grant: 'subscription', quantity: 'seats' });
  await shop.offer('keys', { grant: 'subscription' });
  await shop.notify(paid('1', { offer: 'seats', quantity: 3, period_end: '2099-01-31' }));
  expect(await shop.licenses()).toMatchObject([{ terms: { max_activations: 3 } }]);
  await shop.notify({ type: 'renewed', order: '1', quantity: 5, period_end: '2099-02-28' });
  expect(await shop.licenses()).toMatchObject([{ terms: { max_activations: 5 } }]);
  await shop.notify({ type: 'renewed', order: '1', quantity: 2, period_end: '2099-03-31' });
  expect(await shop.licenses()).toMatchObject([{ terms: { max_activations: 2 } }]);
  await shop.notify({ type: 'refunded', order: '1', period_end: '2099-03-31' });
  expect(await shop.licenses()).toMatchObject([{ terms: { max_activations: 5 }, expires_at: '2099-02-28' }]);
  await shop.notify(paid('2', { offer: 'keys', quantity: 2, period_end: '2099-01-31' }));
  await shop.notify({ type: 'renewed', order: '2', quantity: 3, period_end: '2099-02-28' });
  await shop.notify({ type: 'renewed', order: '2', quantity: 1, period_end: '2099-03-31' });
  const keys = (await shop.licenses()).filter(({ terms }) => terms.max_activations === undefined);
  expect(keys.map(({ status, expires_at }) => `${status} ${expires_at}`)).toEqual(
    Array(3).fill('active 2099-03-31'),
  );
});

test.for([
  ['edit', 'nothing'],
  ['edit', 'revoke'],
  ['change', 'nothing'],
  ['change', 'suspend'],
])(
  'keys that were paid stay good after the %s of an offer of licenses to one of seats, where a refund does %s',
  async ([how, on_refund]) => {
    const shop = await openShop();
    const terms = { grant: 'subscription', on_refund };
    await shop.offer('keys', terms);
    await shop.offer('seats', { ...terms, quantity: 'seats' });
    await shop.notify(paid('1', { offer: 'keys', quantity: 3, period_end: '2099-01-31' }));
    if (how === 'edit') await shop.offer('keys', { ...terms, quantity: 'seats' });
    const renewed = { type: 'renewed', order: '1', quantity: 3 };
    for (const period_end of ['2099-02-28', '2099-03-31']) {
      await shop.notify({ ...renewed, period_end, ...(how === 'change' && { offer: 'seats' }) });
      expect((await shop.licenses()).map(({ status, expires_at }) => `${status} ${expires_at}`)).toEqual(
        Array(3).fill(`active ${period_end}`),
      );
      expect((await shop.licenses()).map(({ terms }) => terms.max_activations ?? 'its own')).toEqual([
        3,
        'its own',
        'its own',
      ]);
    }
  },
);

test('a trial covers its days, and the first payment goes on from there', async () => {
  const shop = await openStripe();
  await shop.offer('price_pro', { grant: 'subscription' });
  await shop.send('invoice.paid', invoice({ n: 1 }, 1, '2099-01-15', { amount_paid: 0 }));
  expect(await shop.licenses()).toMatchObject([{ status: 'active', expires_at: '2099-01-15' }]);
  await shop.send(
    'invoice.payment_failed',
    invoice({ n: 1 }, 2, '2099-02-15', { status: 'open', billing_reason: 'subscription_cycle' }),
  );
  expect(await shop.purchases()).toMatchObject([{ status: 'past_due' }]);
  await shop.send(
    'invoice.paid',
    invoice({ n: 1 }, 2, '2099-02-15', { billing_reason: 'subscription_cycle' }),
  );
  expect(await shop.licenses()).toMatchObject([{ status: 'active', expires_at: '2099-02-15' }]);
  expect(await shop.purchases()).toMatchObject([{ status: 'fulfilled' }]);
  await shop.send('invoice_payment.paid', invoicePayment(1, 2));
  await shop.send('charge.refunded', charge('1_2', 900));
  expect(await shop.licenses()).toMatchObject([{ status: 'active', expires_at: '2099-01-15' }]);
});
