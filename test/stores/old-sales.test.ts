import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import type { StoreProviderName } from '../../src/shared/rules/stores.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { call } from '../support/client.ts';
import * as gumroad from './bodies/gumroad.ts';
import * as lemon from './bodies/lemonsqueezy.ts';
import * as polar from './bodies/polar.ts';
import * as woo from './bodies/woocommerce.ts';
import { openShop, SECRET } from './shop.ts';
import { sign } from './signing.ts';

// What was sold long before a store was connected, and is sent because of what has become of it since.

afterEach(() => vi.restoreAllMocks());

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
const LONG_AGO = daysAgo(400);

const open = async (provider: StoreProviderName, ref: string, fields: object = { secret: SECRET }) => {
  const shop = await openShop({ provider, secret: undefined, ...fields });
  await shop.offer(ref, { grant: 'perpetual' });
  const send = async (body: object, topic = '') => {
    const text = JSON.stringify(body);
    const headers = sign(provider, SECRET, text, topic);
    expect((await call('POST', `/hooks/${shop.storeId}`, { body: text, headers })).status).toBe(200);
  };
  return { ...shop, send };
};

const wooOrder = (id: number, paidAt: string, fields: Partial<woo.WooOrder> = {}) =>
  woo.order({ id, status: 'completed', paidAt: paidAt.slice(0, 19), ...fields });

test('of WooCommerce, an order of long ago that somebody edits or restores is no sale', async () => {
  const shop = await open('woocommerce', '51');
  await shop.send(wooOrder(1, LONG_AGO), 'order.updated');
  await shop.send(wooOrder(2, LONG_AGO), 'order.restored');
  await shop.send(wooOrder(3, LONG_AGO, { refunds: [{ id: 9, total: '-1.00' }] }), 'order.updated');
  expect(await shop.purchases()).toEqual([]);
  await shop.send(wooOrder(4, daysAgo(0)), 'order.updated');
  expect(await shop.purchases()).toMatchObject([{ order: '4', status: 'fulfilled' }]);
  await shop.send(wooOrder(4, daysAgo(0), { status: 'refunded' }), 'order.updated');
  expect(await shop.licenses()).toMatchObject([{ status: 'revoked' }]);
});

test('a renewal of a subscription of long ago is a sale', async () => {
  const shop = await open('woocommerce', '51');
  await shop.send(wooOrder(9, daysAgo(0), { renewalOf: 900 }), 'order.updated');
  expect(await shop.purchases()).toMatchObject([{ order: '9' }]);
});

test('a part of a sale of long ago that is given back makes no license', async () => {
  const ofLemon = await open('lemonsqueezy', '88001');
  const order = lemon.order({ id: '1', createdAt: LONG_AGO, status: 'partial_refund', refunded: 100 });
  await ofLemon.send(lemon.event('order_refunded', order));
  expect(await ofLemon.purchases()).toEqual([]);
  const ofPolar = await open('polar', 'd8dd2de1-21b7-4a41-8bc3-ce909c0cfe23');
  const refunded = polar.order({ id: 'o1', createdAt: LONG_AGO, status: 'partially_refunded', refunded: 1 });
  await ofPolar.send(polar.event('order.refunded', refunded));
  expect(await ofPolar.purchases()).toEqual([]);
  // The store's own word for a sale, which somebody may have sent again on purpose.
  await ofPolar.send(polar.event('order.paid', { ...refunded, status: 'paid', refunded_amount: 0 }));
  expect(await ofPolar.purchases()).toMatchObject([{ status: 'fulfilled' }]);
});

test('of Gumroad, a membership of long ago that is canceled makes no license', async () => {
  const sold = gumroad.sale({ id: 's1', createdAt: LONG_AGO, subscription: 'm1', isCancelled: true });
  vi.spyOn(globalThis, 'fetch').mockImplementation((input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : String(input));
    const answer = pathname.includes('/sales/') ? { sale: sold } : { sales: [], resource_subscriptions: [] };
    return Promise.resolve(Response.json({ success: true, ...answer }));
  });
  const shop = await openShop({ provider: 'gumroad', secret: undefined, api_key: 'key' });
  await shop.offer('orrery', { grant: 'perpetual' });
  const { body } = await shop.ada.asSession('PATCH', `/api/stores/${shop.storeId}`, { rotate_secret: true });
  const { pathname } = new URL(body.webhook_url);
  const form = new URLSearchParams(gumroad.subscriptionPing('cancellation', 'm1', ['s1'])).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await call('POST', pathname, { body: form, headers })).status).toBe(200);
  for (let i = 0; i < 10; i++) await workOnStores(env, shop.ada.accountId);
  expect(await shop.purchases()).toEqual([]);
});
