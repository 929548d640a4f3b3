import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { databaseOf } from '../../src/db/client.ts';
import type { StoreFact } from '../../src/purchases/rules/facts.ts';
import { takeFacts } from '../../src/purchases/take.ts';
import { SYSTEM } from '../../src/shared/rules/audit.ts';
import { openShop } from '../stores/shop.ts';

// Purchases with licenses that turn out to be one.

const ORDER: StoreFact = { kind: 'ordered', about: 'order/1', with: ['invoice/a', 'invoice/b'] };
/** One payment that was told by two names. */
const JOINED: StoreFact = { kind: 'joined', about: 'invoice/a', as: ['invoice/b'] };

const payment = (id: string, refs: string[], quantity = 1): StoreFact => ({
  kind: 'paid',
  about: `invoice/${id}`,
  // What takes the place of nothing else.
  lines: refs.map((ref) => ({ refs: [ref], quantity, instead: [] })),
});

/** An order whose number of licenses has changed since. */
const edited = (quantity: number, version: number): StoreFact => ({
  ...payment('a', ['mill'], quantity),
  version,
});

/** A seller of three products, whose store tells of payments. */
const openStore = async (offer: object = {}) => {
  const shop = await openShop();
  const { accountId } = shop.ada;
  for (const product of ['mill', 'loom', 'press']) {
    await shop.ada.asSession('PUT', `/api/v1/products/${product}`, {});
    await shop.offer(product, { product, grant: 'perpetual', ...offer });
  }
  const ctx = { env, db: databaseOf(env, accountId), accountId, key: null, actor: SYSTEM, ip: null };
  const licenses = async () =>
    (await shop.licenses()).map(({ license_key, product, status, terms }) => ({
      key: license_key,
      product,
      status,
      seats: terms?.max_activations,
    }));
  return {
    ...shop,
    take: (...facts: StoreFact[]) => takeFacts(ctx, { id: shop.storeId, provider: 'generic' }, facts, null),
    licenses,
    assign: async (product: string) => {
      const [{ id }] = (await shop.purchases('?status=unmapped')) as [{ id: string }];
      return shop.ada.asSession('POST', `/api/purchases/${id}/assign`, { product });
    },
    good: async () => (await licenses()).filter(({ status }) => status === 'active'),
  };
};

test('two purchases of different things that turn out to be one keep both of their keys', async () => {
  const { take, licenses } = await openStore();
  await take(payment('a', ['mill']));
  await take(payment('b', ['loom']));
  const sold = await licenses();
  expect(sold).toMatchObject([{ product: 'mill' }, { product: 'loom' }]);
  await take(ORDER);
  expect(await licenses()).toEqual(sold);
});

test('of several things, each that both purchases have is given once, and the others stay', async () => {
  const { take, licenses, good } = await openStore();
  await take(payment('a', ['mill']));
  await take(payment('b', ['loom', 'mill', 'press']));
  const [mill, ...others] = await licenses();
  await take(ORDER);
  expect(await good()).toEqual([mill, ...others.filter(({ product }) => product !== 'mill')]);
});

test('a thing that no offer is for anymore keeps its key in a purchase that turns out to be another one', async () => {
  const { ada, storeId, take, licenses } = await openStore();
  await take(payment('a', ['mill']));
  await take(payment('b', ['loom']));
  const sold = await licenses();
  await ada.asSession('DELETE', `/api/stores/${storeId}/offers/loom`);
  await take(ORDER);
  expect(await licenses()).toEqual(sold);
});

test('a plan and its change that were two purchases go on with one key', async () => {
  const { take, licenses, good } = await openStore();
  const paid = (id: string, ref: string, day: string): StoreFact => ({
    kind: 'paid',
    about: `invoice/${id}`,
    atMs: Date.parse(day),
    lines: [{ refs: [ref], quantity: 1 }],
  });
  await take(paid('b', 'loom', '2027-02-01'));
  await take(paid('a', 'mill', '2027-01-01'));
  const [changed] = await licenses();
  await take(ORDER);
  expect(await good()).toEqual([changed]);
});

test.for(['revoke', 'suspend', 'nothing'])(
  'a payment that was told by two names gives one license, where a refund does %s',
  async (on_refund) => {
    const { take, licenses, good } = await openStore({ on_refund });
    await take(payment('a', ['mill']));
    await take(payment('b', ['mill']));
    const [first] = await licenses();
    await take(JOINED);
    expect(await good()).toEqual([first]);
  },
);

test.for(['revoke', 'nothing'])(
  'a payment that was told by two names gives its seats once, where a refund does %s',
  async (on_refund) => {
    const { take, good } = await openStore({ on_refund, quantity: 'seats' });
    await take(payment('a', ['mill'], 3));
    await take(payment('b', ['mill'], 3));
    await take(JOINED);
    expect(await good()).toMatchObject([{ seats: 3 }]);
  },
);

test('a license that is one too many stays ended, and the others good, whatever the purchase is for later', async () => {
  const { offer, take, licenses, good } = await openStore({ on_refund: 'nothing' });
  await take(payment('a', ['mill'], 2));
  await take(payment('b', ['mill'], 2));
  const kept = (await licenses()).slice(0, 2);
  await take(JOINED);
  expect(await good()).toEqual(kept);
  await offer('mill', { product: 'mill', grant: 'perpetual', on_refund: 'nothing', quantity: 'seats' });
  await take({
    kind: 'paid',
    about: 'invoice/c',
    with: ['invoice/a'],
    lines: [{ refs: ['mill'], quantity: 1 }],
  });
  expect((await good()).map(({ key }) => key)).toEqual(kept.map(({ key }) => key));
});

test('all keys of one payment stay good if an offer of licenses was changed to seats before it was told by two names', async () => {
  const { offer, take, good } = await openStore({ on_refund: 'nothing' });
  await take(payment('a', ['mill']));
  await take(payment('b', ['mill'], 3));
  await offer('mill', { product: 'mill', grant: 'perpetual', on_refund: 'nothing', quantity: 'seats' });
  await take(JOINED);
  expect(await good()).toHaveLength(3);
});

test('an order of which fewer are left than were made keeps its keys where a refund does nothing', async () => {
  const { take, good } = await openStore({ on_refund: 'nothing' });
  await take(edited(3, 1));
  const sold = await good();
  expect(sold).toHaveLength(3);
  await take(edited(2, 2));
  expect(await good()).toEqual(sold);
});

test('a key for what a person has named is not ended by another thing of the same product', async () => {
  const { assign, take, licenses } = await openStore();
  await take(payment('a', ['mill']));
  await take(payment('b', ['unknown']));
  await assign('mill');
  const sold = await licenses();
  expect(sold).toMatchObject([{ product: 'mill' }, { product: 'mill' }]);
  await take(ORDER);
  expect(await licenses()).toEqual(sold);
});

test('a key of a thing that isn’t decided yet is not ended by another thing of the same product', async () => {
  const { assign, take, licenses } = await openStore({ grant: 'subscription' });
  await take({ ...payment('a', ['mill']), covers: { untilMs: Date.parse('2099-01-31') } } as StoreFact);
  await take(payment('b', ['unknown']));
  await assign('mill');
  const sold = await licenses();
  expect(sold).toMatchObject([{ product: 'mill' }, { product: 'mill' }]);
  await take(ORDER);
  expect(await licenses()).toEqual(sold);
});

test('a product that a person has named is not that of what had an offer', async () => {
  const { ada, storeId, assign, take, licenses } = await openStore();
  await take(payment('a', ['mill']));
  await take(payment('b', ['unknown']));
  await assign('loom');
  const sold = await licenses();
  await ada.asSession('DELETE', `/api/stores/${storeId}/offers/mill`);
  await take(ORDER);
  expect(await licenses()).toEqual(sold);
});
