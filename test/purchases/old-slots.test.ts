import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decidePurchase } from '../../src/purchases/rules/decide.ts';
import type { StoreFact } from '../../src/purchases/rules/facts.ts';
import { SUBSCRIPTION } from '../stores/decided.ts';
import { invoice } from '../stores/stripe-bodies.ts';
import { openStripe } from '../stores/stripe-shop.ts';
import { accountsD1 } from '../support/databases.ts';

// Purchases whose slots were numbered by older rules, or from fewer facts: each license stays that of what it was made for.

const seconds = (day: string) => Date.parse(`${day}T10:00:00.000Z`) / 1_000;

const invoiceFor = (number: number, from: string, until: string, things: string[]) => {
  const sent = invoice({ n: 1 }, number, until);
  const [line] = sent.lines.data;
  const data = things.map((thing) => ({
    ...line,
    period: { start: seconds(from), end: seconds(until) },
    pricing: { price_details: { price: `price_${thing}`, product: `prod_${thing}` } },
  }));
  return { ...sent, lines: { ...sent.lines, data } };
};

test('a license stays that of its thing where an older release has numbered the things otherwise', async () => {
  const shop = await openStripe();
  for (const thing of ['x', 'y', 'z']) {
    await shop.ada.asSession('PUT', `/api/v1/products/${thing}`, {});
    await shop.offer(`price_${thing}`, { product: thing, grant: 'subscription' });
  }
  const send = (...sent: Parameters<typeof invoiceFor>) => shop.send('invoice.paid', invoiceFor(...sent));
  await send(1, '2098-11-01', '2098-12-01', ['x']);
  await send(2, '2098-12-01', '2099-01-01', ['x', 'y', 'z']);
  await send(3, '2099-01-01', '2099-02-01', ['x', 'y']);
  // That release gave y and z one license, which was first for z and then for y.
  const query = (text: string) => accountsD1.prepare(text).bind(shop.storeId);
  const of = 'purchase_id = (SELECT id FROM purchases WHERE store_id = ?1)';
  const byProduct = (product: string) =>
    `${of} AND license_id = (SELECT id FROM licenses WHERE product = '${product}' AND id = license_id)`;
  await accountsD1.batch([
    query(
      `DELETE FROM licenses WHERE id = (SELECT license_id FROM purchase_licenses WHERE ${byProduct('z')})`,
    ),
    query(`DELETE FROM purchase_licenses WHERE ${of} AND license_id NOT IN (SELECT id FROM licenses)`),
    query(`UPDATE purchase_licenses SET slot = 1 WHERE ${byProduct('y')}`),
  ]);
  const licenses = async () =>
    (await shop.licenses()).map((license) => [license.id, license.product, license.expires_at]);
  const [x, y] = await licenses();
  expect([x?.slice(1), y?.slice(1)]).toEqual([
    ['x', '2099-02-01'],
    ['y', '2099-02-01'],
  ]);
  await send(4, '2099-02-01', '2099-03-01', ['x', 'y']);
  const held = [
    [x?.[0], 'x', '2099-03-01'],
    [y?.[0], 'y', '2099-03-01'],
  ];
  const [z, ...more] = (await licenses()).slice(2);
  expect((await licenses()).slice(0, 2)).toEqual(held);
  expect([z?.slice(1), more]).toEqual([['z', '2099-01-01'], []]);
  await send(5, '2099-03-01', '2099-04-01', ['x', 'y']);
  expect(await licenses()).toEqual([...held.map(([id, thing]) => [id, thing, '2099-04-01']), z]);
});

const THINGS = ['a', 'b', 'c', 'd'];
const offers = new Map(THINGS.map((ref) => [ref, { ...SUBSCRIPTION, ref, product: ref }]));

/** A subscription to which things are added, and of which some are not renewed. */
const additions = fc.array(fc.subarray(THINGS, { minLength: 1 }), { minLength: 1, maxLength: 3 });

const paymentsFor = (added: string[][]): StoreFact[] =>
  added.map((_, i) => {
    const atMs = Date.parse('2027-01-10T12:00:00Z') + i * 30 * 86_400_000;
    return {
      kind: 'paid',
      about: `invoice/${i}`,
      with: ['subscription/1'],
      atMs,
      lines: [...new Set(added.slice(0, i + 1).flat())].map((ref) => ({ refs: [ref], quantity: 1 })),
      covers: { untilMs: atMs + 30 * 86_400_000, fromMs: atMs },
    };
  });

test('what is held for a thing keeps its number, whatever number the thing would get today', () => {
  const permuted = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 });
  fc.assert(
    fc.property(additions, permuted, (added, numbers) => {
      const books = {
        facts: paymentsFor(added).map((fact) => ({ fact, takenAtMs: 0 })),
        offers,
        assigned: null,
        acceptsTest: false,
      };
      const { slots } = decidePurchase({ ...books, earlier: new Map() });
      const held = slots.map((slot) => ({ ...slot, slot: numbers[slot.slot]! }));
      const earlier = new Map(held.map(({ slot, offer }) => [slot, offer]));
      const again = decidePurchase({ ...books, earlier });
      expect(again.slots).toEqual(held.toSorted((a, b) => a.slot - b.slot));
    }),
  );
});
