import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { openShop, paid, type Shop } from '../stores/shop.ts';
import { session } from '../stores/stripe-bodies.ts';
import { openStripe } from '../stores/stripe-shop.ts';
import type { Json } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { listen } from '../support/listening.ts';
import { keepMails, mailsTo, sendMailsBy } from '../support/mails.ts';
import { verifyAddress } from '../support/sign-in.ts';

// Keys of a purchase that are made after its first ones.

afterEach(() => vi.restoreAllMocks());

const keysOf = async (shop: Shop): Promise<string[]> =>
  (await shop.licenses()).map(({ license_key }) => license_key);

const mailsOf = async (shop: Shop): Promise<Json[]> => {
  const [{ id }] = (await shop.purchases()) as [{ id: string }];
  return (await shop.ada.asSession('GET', `/api/purchases/${id}`)).body.mails;
};

/** How many of the keys each email to an address has. */
const countKeys = (address: string, keys: string[]): number[] =>
  mailsTo(address).map(({ text }) => keys.filter((key) => text.includes(key)).length);

/** A link of Stripe's by which three licenses were bought, which only Stripe's API says. */
const openThree = async () => {
  keepMails();
  const sold = session(1, { payment_link: 'plink_1' });
  const line_items = { data: [{ quantity: 3, price: { id: 'price_1', product: 'prod_1' } }] };
  const stripe = { isDown: false };
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : String(input));
    if (stripe.isDown) return Response.json({}, { status: 503 });
    if (pathname === '/v1/checkout/sessions/cs_1') return Response.json({ ...sold, line_items });
    return Response.json({ data: [], has_more: false });
  });
  const shop = await openStripe({ api_key: 'rk_live_x' });
  await verifyAddress(shop.ada.accountId);
  await shop.offer('plink_1', { grant: 'perpetual' });
  // The checks that a new store makes.
  for (let steps = 0; steps < 3; steps++) await workOnStores(env, shop.ada.accountId);
  return {
    ...shop,
    stripe,
    buy: () => shop.send('checkout.session.completed', sold),
    work: async (steps = 1) => {
      for (let step = 0; step < steps; step++) await workOnStores(env, shop.ada.accountId);
    },
    setReadAt: (ms: number) =>
      accountsD1
        .prepare('UPDATE store_messages SET read_at = ? WHERE store_id = ?')
        .bind(ms, shop.storeId)
        .run(),
  };
};

test('a buyer of three licenses gets three keys in one email, although Stripe has to be asked how many they are', async () => {
  const shop = await openThree();
  await shop.buy();
  expect(await shop.licenses()).toHaveLength(1);
  await Promise.all([shop.work(), shop.work()]);
  await shop.work(3);
  const keys = await keysOf(shop);
  expect(keys).toHaveLength(3);
  expect(countKeys('buyer1@example.com', keys)).toEqual([3]);
  expect((await mailsOf(shop)).filter(({ status }) => status === 'sent')).toHaveLength(1);
});

test('a buyer has a key once Stripe has failed to answer, and all of them by email once it answers', async () => {
  const shop = await openThree();
  shop.stripe.isDown = true;
  await shop.buy();
  await shop.work(3);
  expect(countKeys('buyer1@example.com', await keysOf(shop))).toEqual([1]);
  shop.stripe.isDown = false;
  await shop.setReadAt(1);
  await shop.work(3);
  expect(countKeys('buyer1@example.com', await keysOf(shop))).toEqual([1, 3]);
  expect(await mailsOf(shop)).toMatchObject([{ status: 'sent' }, { status: 'sent' }]);
});

test('an email waits ten minutes at most for a notification that somebody has begun to read', async () => {
  const shop = await openThree();
  await shop.buy();
  await shop.setReadAt(Date.now() + 3_600_000);
  await shop.work(2);
  expect(mailsTo('buyer1@example.com')).toEqual([]);
  await accountsD1
    .prepare('UPDATE purchase_mails SET created_at = created_at - 600000 WHERE account_id = ?')
    .bind(shop.ada.accountId)
    .run();
  await shop.work();
  expect(countKeys('buyer1@example.com', await keysOf(shop))).toEqual([1]);
});

test('an email doesn’t wait for a notification whose reading has failed', async () => {
  const shop = await openThree();
  await shop.buy();
  const pull = vi.spyOn(AccountGate.prototype, 'pull').mockRejectedValue(new Error('The gate is cut off.'));
  await shop.work();
  pull.mockRestore();
  await shop.work();
  expect(countKeys('buyer1@example.com', await keysOf(shop))).toEqual([3]);
});

/** A subscription whose key was mailed, and of which two more licenses are paid with its renewal. */
const openRenewed = async () => {
  keepMails();
  const shop = await openShop();
  await verifyAddress(shop.ada.accountId);
  await shop.offer('pro', { grant: 'subscription' });
  const { next_cursor } = await listen(shop.ada);
  await shop.notify(paid('1', { period_end: '2099-01-31' }));
  const work = () => workOnStores(env, shop.ada.accountId);
  await work();
  const renew = (quantity: number, period_end: string) =>
    shop.notify({ type: 'renewed', order: '1', quantity, period_end });
  await renew(3, '2099-02-28');
  await work();
  return { shop, renew, work, cursor: next_cursor };
};

test('keys that a renewal adds are mailed with the others, and a renewal that adds none mails nothing', async () => {
  const { shop, renew, work } = await openRenewed();
  for (const [quantity, end] of [
    [3, '2099-03-31'],
    [1, '2099-04-30'],
    [3, '2099-05-31'],
  ] as const) {
    await renew(quantity, end);
    await work();
  }
  const keys = await keysOf(shop);
  expect(keys).toHaveLength(3);
  expect(countKeys('grace@example.com', keys)).toEqual([1, 3]);
});

test('an email that is dropped on its way for one with more keys isn’t sent again if it doesn’t arrive', async () => {
  const { shop, renew, work } = await openRenewed();
  const restore = sendMailsBy(async () => {
    await renew(5, '2099-04-30');
    throw new Error('The mailbox is full.');
  });
  await renew(4, '2099-03-31');
  await work();
  restore();
  await work();
  const keys = await keysOf(shop);
  expect(countKeys('grace@example.com', keys)).toEqual([1, 3, 5]);
  expect((await mailsOf(shop)).map(({ problem }) => problem)).toEqual([null, null, 'same_as_earlier', null]);
});

test('an event tells which licenses a purchase got, and all of them once it gets more', async () => {
  const { shop, cursor } = await openRenewed();
  await shop.notify({ type: 'refunded', order: '1' });
  const events: Json[] = [];
  let next_cursor = cursor;
  while (!events.some(({ event }) => event === 'purchase.refunded')) {
    const page = await listen(shop.ada, `?cursor=${next_cursor}&wait=25`);
    events.push(...page.data);
    ({ next_cursor } = page);
  }
  const fulfilled = events.filter(({ event }) => event === 'purchase.fulfilled');
  const ids = (await shop.licenses()).map(({ id }): string => id);
  expect(fulfilled.map(({ payload }) => JSON.parse(payload).license_ids.toSorted())).toEqual([
    ids.slice(0, 1),
    ids.toSorted(),
  ]);
});
