import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { STORE_PROVIDERS, type StoreProviderName } from '../../src/shared/rules/stores.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { call, freshAddress, type Json, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { order } from './bodies/lemonsqueezy.ts';
import { SECRET } from './shop.ts';
import { sign } from './signing.ts';
import { lemonsqueezyWorld } from './worlds/lemonsqueezy.ts';
import { type Notice, SOLD_AT, type StoreHistory, type StoreWorld } from './worlds/world.ts';
import { type WorldOfProvider, WORLDS } from './worlds/worlds.ts';

// What each provider sends arrives at a store's URL, signed as the provider signs, and its API is a double.

const RENEWED: StoreHistory = {
  isRenewed: true,
  refund: 'none',
  isPastDue: false,
  isOver: false,
  dispute: 'none',
};

interface Case extends WorldOfProvider {
  provider: StoreProviderName;
}

const CASES: Case[] = STORE_PROVIDERS.filter((provider) => provider !== 'generic').map((provider) => ({
  provider,
  ...WORLDS[provider],
}));

// While what was bought is good.
beforeEach(() => useFakeClock(SOLD_AT));
afterEach(() => vi.restoreAllMocks());

/** A double of a provider's API: what it answers, by the beginning of the path. The longest one that fits counts. */
const openStoreApi = (answers: Record<string, unknown>) =>
  vi.spyOn(globalThis, 'fetch').mockImplementation((input) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : String(input));
    const [name] = Object.keys(answers)
      .filter((start) => `${pathname}${search}`.startsWith(start))
      .toSorted((a, b) => b.length - a.length);
    const isKnown = name !== undefined;
    return Promise.resolve(
      Response.json(isKnown ? answers[name] : { success: false }, { status: isKnown ? 200 : 404 }),
    );
  });

const KEYS: Partial<Record<StoreProviderName, string>> = {
  stripe: 'rk_live_1',
  fastspring: 'user:secret',
  woocommerce: 'https://ck_a:cs_b@shop.example.com',
};

const open = async ({ provider, world, ref }: Case, history: StoreHistory) => {
  const sent = world(history);
  openStoreApi(sent.answers);
  const seller = await signUp();
  await seller.asSession('PUT', '/api/v1/products/mill', { terms: { max_activations: 2 } });
  const { body: store } = await seller.asSession('POST', '/api/stores', {
    provider,
    name: 'Shop',
    api_key: KEYS[provider] ?? 'key',
    ...(provider !== 'gumroad' && { secret: SECRET }),
  });
  const offer = { product: 'mill', grant: 'subscription' };
  await seller.asSession('PUT', `/api/stores/${store.id}/offers/${encodeURIComponent(ref)}`, offer);
  const { pathname } = new URL(store.webhook_url);
  const address = { 'cf-connecting-ip': freshAddress() };
  const post = async (body: string, headers: Record<string, string>, path = pathname) =>
    (await call('POST', path, { body, headers: { ...address, ...headers } })).status;
  return {
    seller,
    storeId: store.id as string,
    post,
    deliver: ({ body, topic }: Notice, secret = SECRET) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return post(text, sign(provider, secret, text, topic));
    },
    notices: sent.notices,
    work: async () => {
      for (let i = 0; i < 20; i++) await workOnStores(env, seller.accountId);
    },
    licenses: async (): Promise<Json[]> =>
      (await seller.asSession('GET', '/api/v1/licenses?limit=100')).body.data,
  };
};

test.for(CASES)('of $provider, fifty equal copies at once make one license', async (store) => {
  const { deliver, notices, work, licenses } = await open(store, RENEWED);
  const copiesOf = (notice: Notice, length: number) =>
    Promise.all(Array.from({ length }, () => deliver(notice)));
  // The sale itself is the first or the second that a store tells.
  for (const [i, notice] of notices.entries())
    expect(new Set(await copiesOf(notice, i < 2 ? 50 : 3))).toEqual(new Set([200]));
  await work();
  const [license, ...others] = await licenses();
  expect(others).toEqual([]);
  expect(license).toMatchObject({
    product: 'mill',
    status: 'active',
    expires_at: '2027-03-10',
    customer_email: 'ada@example.com',
  });
});

test.for(CASES)('of $provider, what never came is found by its API within the hour', async (store) => {
  const { work, licenses } = await open(store, RENEWED);
  await work();
  expect(await licenses()).toMatchObject([{ status: 'active', expires_at: '2027-03-10' }]);
});

test.for(CASES)('of $provider, what comes backwards ends in one license, too', async (store) => {
  const { deliver, notices, work, licenses } = await open(store, {
    ...RENEWED,
    isPastDue: store.provider !== 'gumroad',
    refund: 'second',
  });
  for (const notice of notices.toReversed()) expect(await deliver(notice)).toBe(200);
  await work();
  const made = await licenses();
  expect(made.map(({ status, expires_at }) => [status, expires_at])).toEqual([['active', '2027-02-10']]);
});

test.for(CASES.filter(({ provider }) => provider !== 'gumroad'))(
  'of $provider, a body that another secret has signed is refused',
  async (store) => {
    const { deliver, notices } = await open(store, RENEWED);
    expect(await deliver(notices[0]!, `${SECRET}x`)).toBe(401);
  },
);

const caseOf = (name: StoreProviderName): Case => CASES.find(({ provider }) => provider === name)!;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

test('of Gumroad, a ping without the token is refused, and one of a sale that nobody made gives nothing', async () => {
  const { storeId, post, work, licenses } = await open(caseOf('gumroad'), { ...RENEWED, isRenewed: false });
  expect(await post('resource_name=sale&sale_id=invented&email=eve%40example.com', FORM)).toBe(200);
  expect(await post('sale_id=s1', FORM, `/hooks/${storeId}/wrong`)).toBe(401);
  await work();
  // The one that was made is found by the list.
  expect((await licenses()).map(({ customer_email }): string => customer_email)).toEqual(['ada@example.com']);
});

test('of WooCommerce, the ping of a new webhook is answered 200, and says nothing', async () => {
  const { seller, post } = await open(caseOf('woocommerce'), RENEWED);
  expect(await post('webhook_id=17', FORM)).toBe(200);
  expect((await seller.asSession('GET', '/api/stores')).body.data).toMatchObject([{ last_event_at: null }]);
});

test('what was sold long before a store was connected makes no purchase, and its refund neither', async () => {
  const createdAt = new Date(Date.now() - 20 * DAY_MS).toISOString();
  const page = (data: object[]) => ({ data, meta: { page: { currentPage: 1, lastPage: 1 } } });
  const world = (history: StoreHistory): StoreWorld => ({
    ...lemonsqueezyWorld(history),
    answers: {
      '/v1/orders': page([order({ id: '1', createdAt, status: 'refunded', refunded: 3_600 })]),
      '/v1/subscription-invoices': page([]),
      '/v1/subscriptions': page([]),
    },
  });
  const { seller, work } = await open({ ...caseOf('lemonsqueezy'), world }, RENEWED);
  await work();
  expect((await seller.asSession('GET', '/api/purchases')).body.data).toEqual([]);
});
