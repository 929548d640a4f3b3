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
