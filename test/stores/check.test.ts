import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { type Customer, outcomeOf, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { setCountedBytes } from '../support/storage.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openShop } from './shop.ts';
import { invoice, session, stripeEvent } from './stripe-bodies.ts';

afterEach(() => vi.restoreAllMocks());

/** A double of Stripe's API, which lists events in pages of one. Notes the requests. */
const openStripe = (events: { id: string }[]) => {
  const asked: string[] = [];
  let isDown = false;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    asked.push(url.pathname);
    if (isDown) throw new TypeError('connection refused');
    if (url.pathname !== '/v1/events') return Response.json({ ...session(9), line_items: { data: [] } });
    const after = url.searchParams.get('starting_after');
    const start = after === null ? 0 : events.findIndex(({ id }) => id === after) + 1;
    return Response.json({ data: events.slice(start, start + 1), has_more: start + 1 < events.length });
  });
  return {
    asked,
    break: () => {
      isDown = true;
    },
  };
};

const STORE = { provider: 'stripe', secret: 'whsec_stripe', api_key: 'rk_live_1' };

const openStripeShop = async (seller?: Customer) => {
  const shop = await openShop(STORE, seller);
  await shop.offer('price_pro', { grant: 'subscription' });
  return {
    ...shop,
    store: async () => (await shop.ada.asSession('GET', `/api/stores/${shop.storeId}`)).body,
  };
};

const workUntilDone = async (accountId: string) => {
  for (let steps = 0; steps < 8; steps++) await workOnStores(env, accountId);
};

test('sales whose notification never came are found by the provider’s API, page by page, once', async () => {
  const stripe = openStripe([
    stripeEvent('invoice.paid', invoice({ n: 2 }, 1, '2099-02-01')),
    stripeEvent('invoice.paid', invoice({ n: 1 }, 1, '2099-01-01')),
  ]);
  const shop = await openStripeShop();
  await workUntilDone(shop.ada.accountId);
  const days = (await shop.licenses()).map(({ expires_at }): string => expires_at);
  expect(days.toSorted((a, b) => a.localeCompare(b))).toEqual(['2099-01-01', '2099-02-01']);
  expect(await shop.store()).toMatchObject({ check_problem: null, checked_at: expect.any(String) });
  expect(stripe.asked.filter((path) => path === '/v1/events')).toHaveLength(2);
});

test('a store’s API key is tried as soon as the seller gives it', async () => {
  const hints: unknown[] = [];
  vi.spyOn(env.WEBHOOKS, 'send').mockImplementation(async (body) => {
    hints.push(body);
    return { metadata: { metrics: { backlogBytes: 0, backlogCount: 0 } } };
  });
  const { ada, storeId } = await openShop({ provider: 'stripe', secret: 'whsec_stripe' });
  expect(hints).toEqual([]);
  const patch = (body: object) => ada.asSession('PATCH', `/api/stores/${storeId}`, body);
  expect(outcomeOf(await patch({ api_key: 'rk_live_1' }))).toBe('200 ok');
  await waitUntil(() => hints.length > 0);
  expect(hints).toEqual([{ account_id: ada.accountId, work: 'stores' }]);
});

test('a provider that doesn’t answer is told in the store, and is asked again later', async () => {
  openStripe([]).break();
  const shop = await openStripeShop();
  await workUntilDone(shop.ada.accountId);
  expect(await shop.store()).toMatchObject({
    check_problem: 'The provider did not answer.',
    checked_at: null,
  });
  expect(outcomeOf(await shop.ada.asSession('PATCH', `/api/stores/${shop.storeId}`, { api_key: null }))).toBe(
    '200 ok',
  );
  expect(await shop.store()).toMatchObject({ check_problem: null, has_api_key: false });
});

test('a provider is asked nothing while the account stores as much as it may, and all of it once there is room', async () => {
  useFakeClock(Date.now());
  const events: { id: string }[] = [];
  const stripe = openStripe(events);
  const shop = await openStripeShop();
  await workUntilDone(shop.ada.accountId);
  const asked = stripe.asked.length;
  for (const n of [2, 1]) events.push(stripeEvent('invoice.paid', invoice({ n }, 1, `2099-0${n}-01`)));
  await setCountedBytes(shop.ada.accountId, 500_000_000);
  vi.advanceTimersByTime(HOUR_MS);
  await workUntilDone(shop.ada.accountId);
  expect(stripe.asked).toHaveLength(asked);
  expect(await shop.store()).toMatchObject({ check_problem: 'The account stores as much as it may.' });
  await setCountedBytes(shop.ada.accountId, 0);
  vi.advanceTimersByTime(HOUR_MS);
  await workUntilDone(shop.ada.accountId);
  expect(await shop.licenses()).toHaveLength(2);
  expect(await shop.store()).toMatchObject({ check_problem: null, checked_at: expect.any(String) });
});

test('an API key that is replaced while the provider is asked with the old one is tried at once', async () => {
  const ada = await signUp();
  const keys: (string | null)[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_input, init) => {
    keys.push(new Headers(init?.headers).get('authorization'));
    if (keys.length > 1) return Response.json({ data: [], has_more: false });
    const { body } = await ada.asSession('GET', '/api/stores');
    await ada.asSession('PATCH', `/api/stores/${body.data[0].id}`, { api_key: 'rk_live_2' });
    return Response.json({}, { status: 401 });
  });
  const shop = await openStripeShop(ada);
  const store = async () => {
    await workOnStores(env, ada.accountId);
    return shop.store();
  };
  await expect.poll(store).toMatchObject({ check_problem: null, checked_at: expect.any(String) });
  expect(keys).toEqual(['Bearer rk_live_1', 'Bearer rk_live_2']);
});

test('an answer of a provider that has no end is not read to its end', async () => {
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1_000_000;
      // A test that fails must end.
      if (sent > 50_000_000) controller.close();
      else controller.enqueue(new Uint8Array(1_000_000));
    },
  });
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(endless));
  const shop = await openStripeShop();
  await workUntilDone(shop.ada.accountId);
  expect(await shop.store()).toMatchObject({ check_problem: 'The provider’s answer is too large.' });
  expect(sent).toBeLessThan(10_000_000);
});

/** A sale of an hour ago. */
const soldLately = (n: number) => {
  const paidAt = Math.floor(Date.now() / 1_000) - 3_600;
  const fields = { created: paidAt, status_transitions: { paid_at: paidAt } };
  return stripeEvent('invoice.paid', invoice({ n }, 1, '2099-01-01', fields));
};

test('a store that is deleted and added again doesn’t sell its last day a second time', async () => {
  const events = [soldLately(1)];
  openStripe(events);
  const { ada, storeId } = await openStripeShop();
  await workUntilDone(ada.accountId);
  expect(outcomeOf(await ada.asSession('DELETE', `/api/stores/${storeId}`))).toBe('200 ok');
  // Nobody was there for this one.
  events.push(soldLately(2));
  const again = await openStripeShop(ada);
  await workUntilDone(ada.accountId);
  const orders = (await again.purchases()).map(({ order }): string => order);
  expect(orders.toSorted()).toEqual(['A-0001-1', 'A-0002-1']);
  expect(await again.licenses()).toHaveLength(2);
});

test('what a deleted store has made no license for is sold by the one that is added again', async () => {
  openStripe([soldLately(1)]);
  const { ada, storeId, purchases } = await openShop(STORE);
  await workUntilDone(ada.accountId);
  expect(await purchases()).toMatchObject([{ status: 'unmapped' }]);
  expect(outcomeOf(await ada.asSession('DELETE', `/api/stores/${storeId}`))).toBe('200 ok');
  const again = await openStripeShop(ada);
  await workUntilDone(ada.accountId);
  expect(await again.licenses()).toHaveLength(1);
});
