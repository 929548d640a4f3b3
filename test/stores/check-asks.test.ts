import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { workOnStores } from '../../src/stores/work.ts';
import { accountsD1 } from '../support/databases.ts';
import { order } from './bodies/polar.ts';
import { openShop } from './shop.ts';

afterEach(() => vi.restoreAllMocks());

const PRICE = '196ca717-4d84-4d28-a1b8-777255797dbc';

/** A double of Polar's API with one order, which is listed once and can be asked for. Notes how often it was. */
const openPolar = () => {
  const createdAt = new Date().toISOString();
  const sold = { id: 'order-1', createdAt };
  const polar = { asked: 0, now: order(sold), refunds: [] as object[], orders: [order(sold)] as object[] };
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : String(input));
    if (pathname === '/v1/orders/order-1') {
      polar.asked++;
      return Response.json(polar.now);
    }
    const items =
      pathname === '/v1/orders/' ? polar.orders : pathname === '/v1/refunds/' ? polar.refunds : [];
    return Response.json({ items, pagination: { total_count: items.length, max_page: 1 } });
  });
  return {
    polar,
    refund: (status: string, refunded: number, refundedTax: number) => {
      polar.now = order({ ...sold, status, refunded, refundedTax });
      polar.refunds.unshift({ id: `r${polar.refunds.length}`, order_id: 'order-1', created_at: createdAt });
      polar.orders = [];
    },
  };
};

test('a second refund of an order is found by the hourly check as the first one is', async () => {
  const { polar, refund } = openPolar();
  const shop = await openShop({ provider: 'polar', secret: 'polar_secret', api_key: 'polar_oat_x' });
  await shop.offer(PRICE, { grant: 'perpetual' });
  const checkAgain = async () => {
    await accountsD1.prepare('UPDATE stores SET check_at = 1 WHERE id = ?').bind(shop.storeId).run();
    for (let steps = 0; steps < 8; steps++) await workOnStores(env, shop.ada.accountId);
    return { asked: polar.asked, licenses: (await shop.licenses()).map(({ status }) => status) };
  };
  expect(await checkAgain()).toEqual({ asked: 0, licenses: ['active'] });
  refund('partially_refunded', 1_000, 200);
  expect(await checkAgain()).toEqual({ asked: 1, licenses: ['active'] });
  refund('refunded', 3_000, 600);
  expect(await checkAgain()).toEqual({ asked: 2, licenses: ['revoked'] });
  polar.refunds = [];
  expect((await checkAgain()).asked).toBe(2);
});

type Answer = () => Response | Promise<Response>;

/**
 * A store whose check has found refunds of orders, and a double of Polar's API, which answers for each as is given, or 404. Notes
 * which were asked for.
 */
const openRefunded = async (orders: string[], answers: Record<string, Answer>) => {
  const asked: string[] = [];
  const created_at = new Date().toISOString();
  const refunds = orders.map((order_id) => ({ id: `of-${order_id}`, order_id, created_at }));
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : String(input));
    const [, id] = /^\/v1\/orders\/(.+)$/.exec(pathname) ?? [];
    if (id !== undefined) {
      asked.push(id);
      return answers[id]?.() ?? Response.json({}, { status: 404 });
    }
    const items = pathname === '/v1/refunds/' ? refunds : [];
    return Response.json({ items, pagination: { total_count: items.length, max_page: 1 } });
  });
  const shop = await openShop({ provider: 'polar', secret: 'polar_secret', api_key: 'polar_oat_x' });
  await shop.offer(PRICE, { grant: 'perpetual' });
  const work = () => workOnStores(env, shop.ada.accountId);
  const waiting = () =>
    accountsD1
      .prepare('SELECT asks, tries, problem FROM store_messages WHERE store_id = ?')
      .bind(shop.storeId)
      .first();
  return { asked, shop, waiting, work };
};

const sold = (id: string) => () => Response.json(order({ id, createdAt: new Date().toISOString() }));

test('an order that the provider no longer has, or tells wrongly, hides no order that was refunded, too', async () => {
  const { asked, shop, waiting, work } = await openRefunded(['gone', 'odd', 'order-1'], {
    odd: () => Response.json({ id: 7 }),
    'order-1': sold('order-1'),
  });
  for (let steps = 0; steps < 8; steps++) await work();
  expect(await shop.licenses()).toHaveLength(1);
  expect(asked).toEqual(['gone', 'odd', 'order-1', 'gone', 'odd']);
  expect(await waiting()).toMatchObject({
    asks: JSON.stringify(['order/gone', 'order/odd']),
    tries: 1,
    problem: 'The provider’s answer could not be read.',
  });
});

test('of many orders that a provider is asked for, those that fail come last, and only then count a try', async () => {
  const orders = Array.from({ length: 12 }, (_, i) => `order-${i}`);
  const known = orders.slice(1).map((id) => [id, sold(id)] as const);
  const { asked, shop, waiting, work } = await openRefunded(orders, Object.fromEntries(known));
  for (let steps = 0; steps < 8; steps++) await work();
  // Ten at a time.
  expect(asked).toEqual([...orders, 'order-0', 'order-0']);
  expect(await shop.licenses()).toHaveLength(11);
  expect(await waiting()).toMatchObject({ asks: JSON.stringify(['order/order-0']), tries: 1 });
});

const DOWN: { answer: string; fail: Answer }[] = [
  { answer: 'with status 429', fail: () => new Response('', { status: 429 }) },
  { answer: 'with status 503', fail: () => new Response('', { status: 503 }) },
  { answer: 'nothing', fail: () => Promise.reject(new TypeError('connection refused')) },
];

test.for(DOWN)('a provider that answers $answer is asked no more for a while', async ({ fail }) => {
  const { asked, waiting, work } = await openRefunded(['a', 'b'], { a: fail, b: fail });
  for (let steps = 0; steps < 8; steps++) await work();
  expect(asked).toEqual(['a']);
  expect(await waiting()).toMatchObject({ asks: JSON.stringify(['order/b', 'order/a']), tries: 1 });
});
