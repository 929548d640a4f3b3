import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { workOnStores } from '../../src/stores/work.ts';
import { call, outcomeOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { body, order } from './bodies/fastspring.ts';
import { openShop, SECRET } from './shop.ts';
import { sign } from './signing.ts';

afterEach(() => vi.restoreAllMocks());

// FastSpring tells of many purchases in one body.

const openSpring = async () => {
  // Only the steps that a test makes work on the store.
  vi.spyOn(env.WEBHOOKS, 'send').mockResolvedValue({
    metadata: { metrics: { backlogBytes: 0, backlogCount: 0 } },
  });
  const shop = await openShop({ provider: 'fastspring', secret: SECRET });
  await shop.offer('orrery-pro', { grant: 'perpetual' });
  return {
    ...shop,
    /** Tells of an order of each address. */
    tell: async (...emails: string[]) => {
      const sold = emails.map((email) => {
        const [id = ''] = email.split('@');
        const one = order({ id, reference: id, account: `of-${id}`, changed: Date.now() });
        return { type: 'order.completed', data: { ...one, customer: { first: 'A', last: 'Buyer', email } } };
      });
      const text = JSON.stringify(body(sold));
      const headers = sign('fastspring', SECRET, text);
      expect(outcomeOf(await call('POST', `/hooks/${shop.storeId}`, { body: text, headers }))).toBe('200 ok');
    },
    work: () => workOnStores(env, shop.ada.accountId),
  };
};

test('a body that tells of more purchases than one step takes is read on at once, step by step', async () => {
  const shop = await openSpring();
  await shop.tell(...Array.from({ length: 40 }, (_, i) => `o${i}@shop.co`));
  const count = () =>
    accountsD1
      .prepare('SELECT count(*) AS n FROM purchases WHERE store_id = ?')
      .bind(shop.storeId)
      .first<number>('n');
  const counts = [await count()];
  for (let steps = 0; steps < 6; steps++) {
    await shop.work();
    counts.push(await count());
  }
  expect(counts[1]).toBeLessThan(40);
  expect(counts.at(-1)).toBe(40);
});

test('a body of several buyers goes with the first who is erased, also if their part was known already', async () => {
  const shop = await openSpring();
  await shop.tell('ann@shop.co');
  await shop.tell('ann@shop.co', 'bob@shop.co', 'cy@shop.co');
  await shop.tell('bob@shop.co', 'cy@shop.co');
  const bodies = async () => {
    const all = accountsD1.prepare(
      'SELECT body IS NOT NULL AS has FROM store_messages WHERE store_id = ? ORDER BY rowid',
    );
    return (await all.bind(shop.storeId).all<{ has: number }>()).results.map(({ has }) => has);
  };
  expect(await bodies()).toEqual([1, 1, 1]);
  const erased = await shop.ada.asSession('POST', '/api/erase-customer', { customer_email: 'ann@shop.co' });
  expect(outcomeOf(erased)).toBe('200 ok');
  expect(await bodies()).toEqual([0, 0, 1]);
});
