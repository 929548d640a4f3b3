import { afterEach, expect, test, vi } from 'vitest';
import type { StoreFact } from '../../src/purchases/rules/facts.ts';
import { takeFacts } from '../../src/purchases/take.ts';
import { openShop } from '../stores/shop.ts';
import { type Json, outcomeOf } from '../support/client.ts';
import { doMeanwhile } from '../support/d1-queries.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';

// Purchases that turn out to be one while something else is done with the one that goes.

afterEach(() => vi.restoreAllMocks());

/** What is read of purchases, of the things that facts name, and of what decisions need beside them. */
const PURCHASES = /from "purchase_licenses" where/;
const THINGS = /from "purchase_things" where/;
const SURROUNDINGS = /from "offers" where/;

const JOINED: StoreFact = { kind: 'joined', about: 'invoice/a', as: ['invoice/b'] };
const CUSTOMER = 'customer/ctm_1';
const ADDRESS: StoreFact = { kind: 'buyer', about: CUSTOMER, email: 'grace@example.com' };

const payment = (id: string) => ({
  kind: 'paid' as const,
  about: `invoice/${id}` as const,
  lines: [{ refs: ['mill'], quantity: 1 }],
});

/** A payment that was told by two names, as two purchases. The later one knows its customer, and goes once they are joined. */
const openTwo = async () => {
  const shop = await openShop();
  const take = (...facts: StoreFact[]) =>
    takeFacts(ctxOf(shop.ada.accountId), { id: shop.storeId, provider: 'generic' }, facts, null);
  await take(payment('a'));
  await take({ ...payment('b'), buyer: { ref: CUSTOMER } });
  const [later, first] = (await shop.purchases()) as [Json, Json];
  return { ...shop, take, first, later };
};

test.for([
  ['retry', {}],
  ['assign', { product: 'mill' }],
] as const)(
  'a purchase that is joined to another one during its %s isn’t found, and leaves nothing behind',
  async ([action, fields]) => {
    const { ada, take, first, later, purchases } = await openTwo();
    const isJoined = doMeanwhile(PURCHASES, () => take(JOINED));
    const answer = await ada.asSession('POST', `/api/purchases/${later.id}/${action}`, fields);
    expect(isJoined()).toBe(true);
    expect(outcomeOf(answer)).toBe('404 not_found');
    expect(await purchases()).toMatchObject([{ id: first.id }]);
  },
);

test('a refund of a purchase that is joined to another one meanwhile is taken into that one', async () => {
  const { take, offer, first, purchases } = await openTwo();
  await offer('mill', { grant: 'perpetual' });
  const isJoined = doMeanwhile(THINGS, () => take(JOINED));
  await take({ kind: 'refunded', about: 'refund/1', of: 'invoice/b', amount: null });
  expect(isJoined()).toBe(true);
  expect(await purchases()).toMatchObject([{ id: first.id, status: 'refunded' }]);
});

test('a purchase begins again if a restored backup has its things, facts, and licenses, and not its row', async () => {
  const { take, offer, first, purchases, licenses } = await openTwo();
  await offer('mill', { grant: 'perpetual' });
  await take(JOINED);
  const before = await licenses();
  await accountsD1.prepare('DELETE FROM purchases WHERE id = ?').bind(first.id).run();
  await take({ kind: 'refunded', about: 'refund/1', of: 'invoice/b', amount: null });
  expect(await purchases()).toMatchObject([{ id: first.id, status: 'refunded' }]);
  const revoked = before.map(({ id }) => ({ id, status: 'revoked' }));
  expect(revoked.length).toBeGreaterThan(0);
  expect(await licenses()).toMatchObject(revoked);
});

test('an address that comes while its purchase is joined to another one is filled in there', async () => {
  const { take, first, purchases } = await openTwo();
  const hasFound = Promise.withResolvers<void>();
  let telling = Promise.resolve(true);
  // The purchases are joined without the address, after it has found which of them waits.
  doMeanwhile(SURROUNDINGS, async () => {
    doMeanwhile(PURCHASES, async () => {
      hasFound.resolve();
      await joining;
    });
    telling = take(ADDRESS);
    await hasFound.promise;
  });
  const joining = take(JOINED);
  await joining;
  expect(await telling).toBe(false);
  expect(await take(ADDRESS)).toBe(true);
  expect(await purchases()).toMatchObject([{ id: first.id, customer_email: 'grace@example.com' }]);
});
