import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import type { StoreFact } from '../../src/purchases/rules/facts.ts';
import { takeFacts } from '../../src/purchases/take.ts';
import { UNKNOWN_EMAIL } from '../../src/shared/rules/licenses.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { openShop, paid } from '../stores/shop.ts';
import { outcomeOf } from '../support/client.ts';
import { doMeanwhile } from '../support/d1-queries.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { keepMails, mailsTo } from '../support/mails.ts';
import { openPortal } from '../support/portal.ts';
import { verifyAddress } from '../support/sign-in.ts';

afterEach(() => vi.restoreAllMocks());

const MANY = 45;

const BUYER = { ref: 'customer/ctm_1' as const };
const ADDRESS: StoreFact = { kind: 'buyer', about: BUYER.ref, email: 'grace@example.com' };
const SALE: StoreFact = {
  kind: 'paid',
  about: 'transaction/1',
  buyer: BUYER,
  lines: [{ refs: ['pro'], quantity: 1 }],
};

const openWaiting = async () => {
  const shop = await openShop();
  const take = (facts: StoreFact[]) =>
    takeFacts(ctxOf(shop.ada.accountId), { id: shop.storeId, provider: 'paddle' }, facts, null);
  return { ...shop, take };
};

test('all purchases of a buyer get the address that comes later, however many have waited', async () => {
  const { storeId, take } = await openWaiting();
  for (let n = 0; n < MANY; n++) await take([{ kind: 'paid', about: `transaction/${n}`, buyer: BUYER }]);
  let turns = 1;
  while (!(await take([ADDRESS]))) turns++;
  expect(turns).toBe(3);
  const known = accountsD1.prepare(
    'SELECT count(*) AS n FROM purchases WHERE store_id = ? AND customer_email = ?',
  );
  expect(await known.bind(storeId, 'grace@example.com').first('n')).toBe(MANY);
});

/** Sells something to a customer whose address comes once the decision has read that it isn't known. */
const sellMeanwhile = async ({ offer, take }: Awaited<ReturnType<typeof openWaiting>>) => {
  await offer('pro', { grant: 'perpetual' });
  const isTold = doMeanwhile(/from "offers" where/, () => take([ADDRESS]));
  await take([SALE]);
  expect(isTold()).toBe(true);
};

test('an address that comes while its purchase is being decided gets the key', async () => {
  keepMails();
  const shop = await openWaiting();
  await verifyAddress(shop.ada.accountId);
  await sellMeanwhile(shop);
  for (let steps = 0; steps < 4; steps++) await workOnStores(env, shop.ada.accountId);
  expect(await shop.purchases()).toMatchObject([{ customer_email: 'grace@example.com' }]);
  expect(mailsTo('grace@example.com')).toHaveLength(1);
});

test('of two addresses of a customer that come at once, the newer one stays', async () => {
  const { take, purchases } = await openWaiting();
  const newer: StoreFact = { kind: 'buyer', about: BUYER.ref, email: 'hopper@example.com', version: 2 };
  const isTold = doMeanwhile(/from "purchase_facts" where/, () => take([newer]));
  await take([{ ...ADDRESS, version: 1 }]);
  expect(isTold()).toBe(true);
  await take([SALE]);
  expect(await purchases()).toMatchObject([{ customer_email: 'hopper@example.com' }]);
});

test('a purchase keeps its address when the store’s customer changes theirs, also after a renewal', async () => {
  const { take, purchases } = await openWaiting();
  const sale = { ...SALE, with: ['subscription/1' as const] };
  await take([sale]);
  await take([ADDRESS]);
  await take([{ ...ADDRESS, email: 'hopper@example.com', version: 2 }]);
  await take([{ ...sale, about: 'transaction/2' }]);
  expect(await purchases()).toMatchObject([{ customer_email: 'grace@example.com' }]);
});

test('a purchase that waits for no address, or has got it, is decided no more', async () => {
  const shop = await openWaiting();
  const countDue = () =>
    accountsD1
      .prepare('SELECT count(*) AS n FROM purchases WHERE decide_at IS NOT NULL AND store_id = ?')
      .bind(shop.storeId)
      .first('n');
  await sellMeanwhile(shop);
  expect(await countDue()).toBe(1);
  for (let steps = 0; steps < 4; steps++) await workOnStores(env, shop.ada.accountId);
  expect(await countDue()).toBe(0);
  await shop.take([{ ...SALE, about: 'transaction/2', buyer: { ref: 'customer/ctm_2' } }]);
  await shop.take([{ ...SALE, about: 'transaction/3' }]);
  expect(await countDue()).toBe(0);
});

test('a sale for which its offer’s grant did not fit gets its license once the offer is saved with another', async () => {
  const { offer, notify, purchases, licenses } = await openShop();
  await offer('pro', { grant: 'subscription' });
  await notify(paid('1'));
  const waits = [{ status: 'pending', reason: 'period_unknown' }];
  expect(await purchases()).toMatchObject(waits);
  // It goes on waiting if the offer still doesn't fit.
  await offer('pro', { grant: 'subscription', grace_days: 3 });
  expect(await purchases()).toMatchObject(waits);
  await offer('pro', { grant: 'perpetual' });
  expect(await purchases()).toMatchObject([{ status: 'fulfilled', reason: null }]);
  expect(await licenses()).toHaveLength(1);
});

test('buyers whose address is still to come are no customer, whom anybody could erase or let in', async () => {
  const { ada, offer, take, licenses, purchases } = await openWaiting();
  await offer('pro', { grant: 'perpetual' });
  await openPortal(ada);
  await take([SALE]);
  await take([{ ...SALE, about: 'transaction/2', buyer: { ref: 'customer/ctm_2' } }]);
  expect(await licenses()).toMatchObject([
    { customer_email: UNKNOWN_EMAIL },
    { customer_email: UNKNOWN_EMAIL },
  ]);
  const unknown = { customer_email: 'Unknown@Customer.invalid' };
  const refused = await ada.asSession('POST', '/api/erase-customer', unknown);
  expect(refused.body.error).toMatchObject({ details: [{ path: 'customer_email' }] });
  expect(outcomeOf(await ada.asKey('POST', '/api/v1/portal-sessions', unknown))).toBe('404 not_found');
  for (const q of ['', '?q=unknown'])
    expect((await ada.asSession('GET', `/api/v1/customers${q}`)).body.data).toEqual([]);
  await take([ADDRESS]);
  const told = (await purchases()).map(({ customer_email }) => customer_email);
  expect(told).toEqual([null, 'grace@example.com']);
});
