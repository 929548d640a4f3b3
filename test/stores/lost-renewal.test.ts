import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { call } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import * as lemon from './bodies/lemonsqueezy.ts';
import * as polar from './bodies/polar.ts';
import { openShop, SECRET } from './shop.ts';
import { sign } from './signing.ts';

// A renewal of a subscription of long ago, of which no notification came.

afterEach(() => vi.restoreAllMocks());

const at = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const dayOf = (time: string) => time.slice(0, 10);

const BOUGHT = at(-365);
const RENEWED = at(-0.5);
const RENEWS = at(364);
const ordered = lemon.order({ id: '1', createdAt: BOUGHT });
const sold = { id: '5', order: '1', createdAt: BOUGHT };

/** A double of Lemon Squeezy’s API. What is old comes last in a list, and a subscription with its invoices only if that is asked. */
const openLemon = () =>
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const { pathname, searchParams } = new URL(input instanceof Request ? input.url : String(input));
    const owner = lemon.subscription({ ...sold, updatedAt: RENEWED, renewsAt: RENEWS });
    const renewal = lemon.invoice({ id: '9', subscription: '5', createdAt: RENEWED });
    const lists: Record<string, object> = {
      '/v1/orders': ordered,
      '/v1/subscription-invoices': renewal,
      '/v1/subscriptions': owner,
    };
    return Response.json({
      meta: { page: { currentPage: 1, lastPage: 1 } },
      data: [lists[pathname]],
      ...(searchParams.get('include') === 'subscription' && { included: [owner] }),
    });
  });

const openLemonShop = async () => {
  openLemon();
  const shop = await openShop({ provider: 'lemonsqueezy', secret: SECRET, api_key: 'key' });
  await shop.offer('88001', { grant: 'subscription' });
  return {
    ...shop,
    send: async (name: string, data: Parameters<typeof lemon.event>[1]) => {
      const body = JSON.stringify(lemon.event(name, data));
      const headers = sign('lemonsqueezy', SECRET, body, '');
      expect((await call('POST', `/hooks/${shop.storeId}`, { body, headers })).status).toBe(200);
    },
    check: async () => {
      for (let steps = 0; steps < 8; steps++) await workOnStores(env, shop.ada.accountId);
    },
  };
};

test('a lost renewal of last year’s subscription is found by Lemon Squeezy’s API, with the period that it pays', async () => {
  const { send, check, licenses, purchases } = await openLemonShop();
  await send('order_created', ordered);
  await send('subscription_created', lemon.subscription({ ...sold, updatedAt: BOUGHT, renewsAt: RENEWED }));
  const first = lemon.invoice({ id: '8', subscription: '5', reason: 'initial', createdAt: BOUGHT });
  await send('subscription_payment_success', first);
  expect(await licenses()).toMatchObject([{ expires_at: dayOf(RENEWED) }]);
  await check();
  expect(await licenses()).toMatchObject([{ expires_at: dayOf(RENEWS) }]);
  expect(await purchases()).toMatchObject([{ order: '1042', status: 'fulfilled' }]);
});

test('a renewal at Lemon Squeezy of what was sold before the store was connected is a sale', async () => {
  const { check, licenses, purchases } = await openLemonShop();
  await check();
  expect(await licenses()).toMatchObject([{ expires_at: dayOf(RENEWS) }]);
  expect(await purchases()).toMatchObject([{ status: 'fulfilled' }]);
});

const STARTED = at(-41);
const DUE = at(-11);
const NEXT_DUE = at(19);
const PRICE = '196ca717-4d84-4d28-a1b8-777255797dbc';

/** A store of Polar's that has been connected for two months, and a double of Polar's API with the orders of one subscription. */
const openPolarShop = async () => {
  const period = (start: string, end: string) => polar.subscription({ id: 'sub-1', start, end });
  const first = polar.order({
    id: 'order-1',
    reason: 'subscription_create',
    createdAt: STARTED,
    subscription: period(STARTED, DUE),
  });
  const orders = [first];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : String(input));
    const items = pathname === '/v1/orders/' ? orders : [];
    return Response.json({ items, pagination: { total_count: items.length, max_page: 1 } });
  });
  const shop = await openShop({ provider: 'polar', secret: 'polar_secret', api_key: 'polar_oat_x' });
  await accountsD1
    .prepare('UPDATE stores SET created_at = ? WHERE id = ?')
    .bind(Date.now() - 60 * DAY_MS, shop.storeId)
    .run();
  await shop.offer(PRICE, { grant: 'subscription' });
  return {
    ...shop,
    renew: (status: 'pending' | 'paid') => {
      const renewal = polar.order({
        id: 'order-2',
        reason: 'subscription_cycle',
        status,
        createdAt: DUE,
        subscription: period(DUE, NEXT_DUE),
      });
      orders.splice(0, orders.length, renewal, first);
    },
    check: async () => {
      await accountsD1.prepare('UPDATE stores SET check_at = 1 WHERE id = ?').bind(shop.storeId).run();
      for (let steps = 0; steps < 8; steps++) await workOnStores(env, shop.ada.accountId);
      return (await shop.licenses()).map(({ expires_at }) => expires_at);
    },
  };
};

test('a renewal at Polar that is paid days after it was due is found, although its notification was lost', async () => {
  const { check, renew, purchases } = await openPolarShop();
  expect(await check()).toEqual([dayOf(DUE)]);
  renew('pending');
  expect(await check()).toEqual([dayOf(DUE)]);
  renew('paid');
  expect(await check()).toEqual([dayOf(NEXT_DUE)]);
  expect(await purchases()).toMatchObject([{ status: 'fulfilled' }]);
});
