import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { call } from '../support/client.ts';
import * as lemon from './bodies/lemonsqueezy.ts';
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
