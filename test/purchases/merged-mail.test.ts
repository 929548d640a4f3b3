import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { databaseOf } from '../../src/db/client.ts';
import type { StoreFact } from '../../src/purchases/rules/facts.ts';
import { takeFacts } from '../../src/purchases/take.ts';
import { SYSTEM } from '../../src/shared/rules/audit.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { openShop } from '../stores/shop.ts';
import { keepMails, mailsTo } from '../support/mails.ts';
import { verifyAddress } from '../support/sign-in.ts';

// Two payments turn out to be of one order, after the key of the first was mailed and before that of the second is.

const GRACE = { email: 'grace@example.com' };
/** A payment for something that takes the place of nothing else. */
const payment = (id: string, ref: string, buyer: object = GRACE): StoreFact => ({
  kind: 'paid',
  about: `invoice/${id}`,
  lines: [{ refs: [ref], quantity: 1, instead: [] }],
  buyer,
});
const ORDER: StoreFact = { kind: 'ordered', about: 'order/1', with: ['invoice/a', 'invoice/b'] };

/** A seller of two products, whose store tells of payments. */
const openStore = async () => {
  keepMails();
  const shop = await openShop();
  const { accountId } = shop.ada;
  await verifyAddress(accountId);
  for (const ref of ['pro', 'plus']) await shop.offer(ref, { grant: 'perpetual' });
  const ctx = { env, db: databaseOf(env, accountId), accountId, key: null, actor: SYSTEM, ip: null };
  return {
    take: (...facts: StoreFact[]) => takeFacts(ctx, { id: shop.storeId, provider: 'generic' }, facts, null),
    work: () => workOnStores(env, accountId),
    /** The keys that are good, by the order in which they were made. */
    keys: async () =>
      (await shop.licenses())
        .filter(({ status }) => status === 'active')
        .map(({ license_key }): string => license_key),
    mails: async () => {
      const [purchase] = await shop.purchases();
      return (await shop.ada.asSession('GET', `/api/purchases/${purchase?.['id']}`)).body.mails;
    },
  };
};

const textOfMails = () => mailsTo(GRACE.email).map(({ text }) => text);

test('a key is mailed if its purchase turns out to be another one, whose keys were mailed before', async () => {
  const { take, work, keys, mails } = await openStore();
  await take(payment('a', 'pro'));
  await work();
  await take(payment('b', 'plus'));
  await take(ORDER);
  await work();
  expect(textOfMails()).toHaveLength(2);
  for (const key of await keys()) expect(textOfMails()[1]).toContain(key);
  expect(await mails()).toMatchObject([{ status: 'sent' }, { status: 'sent' }]);
});

test('keys of two purchases that turn out to be one after both were mailed stay good, and are not mailed again', async () => {
  const { take, work, keys, mails } = await openStore();
  for (const fact of [payment('a', 'pro'), payment('b', 'plus')]) {
    await take(fact);
    await work();
  }
  const mailed = await keys();
  await take(ORDER);
  await work();
  expect(await keys()).toEqual(mailed);
  expect(mailed).toHaveLength(2);
  expect(textOfMails()).toHaveLength(2);
  expect(await mails()).toMatchObject([{ status: 'sent' }, { status: 'sent' }]);
});

test('a key that is made as two purchases turn out to be one is mailed, also if that of the other was', async () => {
  const { take, work, keys } = await openStore();
  await take(payment('a', 'pro'));
  await take({ kind: 'ordered', about: 'invoice/b', buyer: GRACE });
  await work();
  await take(payment('b', 'plus'), ORDER);
  await work();
  expect(await keys()).toHaveLength(2);
  expect(textOfMails()).toHaveLength(2);
  for (const key of await keys()) expect(textOfMails()[1]).toContain(key);
});

test('keys of two purchases that turn out to be one before either is mailed come in one email', async () => {
  const { take, work, keys, mails } = await openStore();
  await take(payment('a', 'pro'));
  await take(payment('b', 'plus'));
  await take(ORDER);
  for (let i = 0; i < 3; i++) await work();
  expect(textOfMails()).toHaveLength(1);
  for (const key of await keys()) expect(textOfMails()[0]).toContain(key);
  const repeated = { status: 'not_sent', problem: 'same_as_earlier' };
  expect(await mails()).toMatchObject([repeated, { status: 'sent' }]);
});

test('a key that waits for an address is mailed once the purchase turns out to be one whose buyer is known', async () => {
  const { take, work, keys } = await openStore();
  await take(payment('a', 'pro'));
  await work();
  await take(payment('b', 'plus', {}));
  await work();
  await take(ORDER);
  for (let i = 0; i < 3; i++) await work();
  expect(textOfMails()).toHaveLength(2);
  for (const key of await keys()) expect(textOfMails()[1]).toContain(key);
});

test('a buyer whose second key ends, as it was for the same thing, gets no second email', async () => {
  const { take, work, keys } = await openStore();
  const renewal = (id: string): StoreFact => ({
    kind: 'paid',
    about: `invoice/${id}`,
    lines: [{ refs: ['pro'], quantity: 1 }],
    buyer: GRACE,
  });
  await take(renewal('a'));
  await work();
  await take(renewal('b'));
  await take(ORDER);
  await work();
  expect(await keys()).toHaveLength(1);
  expect(textOfMails()).toEqual([expect.stringContaining((await keys())[0] ?? '')]);
});
