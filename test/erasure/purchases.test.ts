import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { finishErasures } from '../../src/erasure/finish.ts';
import { settingsOf } from '../../src/shared/config/settings.ts';
import { seal } from '../../src/shared/crypto/sealing.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { openShop, paid, type Shop } from '../stores/shop.ts';
import { outcomeOf } from '../support/client.ts';
import { doBefore } from '../support/d1-queries.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';

afterEach(() => vi.restoreAllMocks());

const erase = async ({ ada }: Shop, customer_email: string) =>
  outcomeOf(await ada.asSession('POST', '/api/erase-customer', { customer_email }));

/** Keeps a notification as one whose reading has failed. Returns its id. */
const letWait = async ({ ada: { accountId }, storeId }: Shop, body: object): Promise<string> => {
  const id = newId('msg');
  const sealed = await seal(settingsOf(env).sealing, JSON.stringify(body), [accountId, id, 'body']);
  await accountsD1
    .prepare(
      `INSERT INTO store_messages (id, account_id, store_id, hash, type, body, received_at, read_at)
       VALUES (?, ?, ?, ?, 'paid', ?, ?, ?)`,
    )
    .bind(id, accountId, storeId, id, sealed, Date.now(), Date.now() - 1)
    .run();
  return id;
};

const hasBody = (id: string) =>
  accountsD1.prepare('SELECT body IS NOT NULL AS has FROM store_messages WHERE id = ?').bind(id).first('has');

const workOn = async ({ ada }: Shop) => {
  for (let left = 5; left > 0; left--) await workOnStores(env, ada.accountId);
};

test('a sale that waits to be read is not lost when a customer is erased', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  const id = await letWait(shop, paid('1', { email: 'grace@shop.co' }));
  expect(await erase(shop, 'ann@shop.co')).toBe('200 ok');
  await workOn(shop);
  expect(await shop.purchases()).toMatchObject([{ order: '1', customer_email: 'grace@shop.co' }]);
  expect(await hasBody(id)).toBe(1);
});

test('what waits to be read of an erased customer is read without bringing them back, and its body goes', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'subscription' });
  await shop.notify(paid('1', { email: 'ann@shop.co', period_end: '2090-01-01' }));
  const [purchase] = await shop.purchases();
  const renewal = { type: 'renewed', order: '1', email: 'ann@shop.co', period_end: '2091-01-01' };
  const id = await letWait(shop, renewal);
  // A part of it was taken.
  await accountsD1
    .prepare('INSERT INTO purchase_messages (account_id, purchase_id, message_id) VALUES (?, ?, ?)')
    .bind(shop.ada.accountId, purchase?.id, id)
    .run();
  expect(await erase(shop, 'ann@shop.co')).toBe('200 ok');
  await workOn(shop);
  expect(await shop.purchases()).toMatchObject([{ order: '1', customer_email: null }]);
  const [license] = await shop.licenses();
  expect(license?.expires_at).toMatch(/^2091-/);
  expect(await hasBody(id)).toBe(0);
});

test('a buyer whose address contains an erased customer’s keeps it, also after the next renewal', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'subscription' });
  const joann = { customer_email: 'joann@shop.co', customer_name: 'Joann Poe' };
  await shop.notify(paid('1', { email: 'joann@shop.co', name: 'Joann Poe', period_end: '2090-01-01' }));
  await shop.notify(paid('2', { email: 'ann@shop.co', name: 'Ann Doe', period_end: '2090-01-01' }));
  expect(await erase(shop, 'ann@shop.co')).toBe('200 ok');
  await shop.notify({ type: 'renewed', order: '1', period_end: '2091-01-01' });
  const purchases = await shop.purchases();
  expect(purchases.find(({ order }) => order === '1')).toMatchObject(joann);
  expect(purchases.find(({ order }) => order === '2')).toMatchObject({ customer_email: null });
});

test('an erasure ends although a part of the address of an order stays', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('joann@shop.co-1', { email: 'joann@shop.co' }));
  await shop.notify(paid('ann@shop.co-1', { email: 'ann@shop.co' }));
  expect(await erase(shop, 'ann@shop.co')).toBe('200 ok');
  const begun = accountsD1.prepare('SELECT subject FROM erasures WHERE account_id = ?');
  expect((await begun.bind(shop.ada.accountId).all()).results).toEqual([]);
});

test('an erasure goes through all facts of a store, page by page', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1', { email: 'grace@shop.co' }));
  await accountsD1
    .prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 450)
       INSERT INTO purchase_facts (account_id, store_id, name, fact, taken_at)
       SELECT ?1, ?2, 'invoice/' || n || ' ended', json_object('kind', 'ended', 'about', 'invoice/' || n,
         'number', iif(n < 300, 'joann@shop.co', 'ann@shop.co')), 1 FROM numbers`,
    )
    .bind(shop.ada.accountId, shop.storeId)
    .run();
  expect(await erase(shop, 'ann@shop.co')).toBe('200 ok');
  const count = (number: string) =>
    accountsD1
      .prepare(`SELECT count(*) AS n FROM purchase_facts WHERE store_id = ? AND fact ->> '$.number' = ?`)
      .bind(shop.storeId, number)
      .first('n');
  expect([await count('joann@shop.co'), await count('ann@shop.co')]).toEqual([299, 0]);
});

/** A shop that has sold 401 licenses by an offer that names Ann, and as many by one that names Joann. */
const openNaming = async () => {
  const shop = await openShop();
  for (const name of ['joann', 'ann']) {
    const entitlements = { contact: `Ask ${name}@shop.co`, size: 3 };
    await shop.offer(name, { grant: 'perpetual', quantity: 'licenses', terms: { entitlements } });
    for (const quantity of [200, 200, 1])
      await shop.notify(paid(`${name}-${crypto.randomUUID()}`, { offer: name, quantity }));
  }
  const naming = async (contact: string) =>
    accountsD1
      .prepare(
        `SELECT count(*) AS n FROM purchase_licenses
         WHERE account_id = ? AND offer ->> '$.terms.entitlements.contact' = ? AND offer ->> '$.terms.entitlements.size' = 3`,
      )
      .bind(shop.ada.accountId, contact)
      .first<number>('n');
  const counts = async () => ({
    ann: await naming('Ask ann@shop.co'),
    erased: await naming('Ask erased@customer.invalid'),
    joann: await naming('Ask joann@shop.co'),
  });
  expect(await counts()).toEqual({ ann: 401, erased: 0, joann: 401 });
  return { shop, counts };
};

test('an erasure goes through all licenses of a store whose offer names the customer, page by page', async () => {
  const { shop, counts } = await openNaming();
  expect(await erase(shop, 'ann@shop.co')).toBe('200 ok');
  expect(await counts()).toEqual({ ann: 0, erased: 401, joann: 401 });
});

test('an erasure that runs out of queries among what a store has sold goes on with the rest', async () => {
  const { shop, counts } = await openNaming();
  const { accountId } = shop.ada;
  await accountsD1
    .prepare("INSERT INTO erasures (account_id, kind, subject, created_at) VALUES (?, 'customer', ?, 1)")
    .bind(accountId, 'ann@shop.co')
    .run();
  const pending = () =>
    accountsD1.prepare('SELECT count(*) AS n FROM erasures WHERE account_id = ?').bind(accountId).first('n');
  /** Lets the erasure go on with so many queries. */
  const goOn = async (left: number) => {
    const spend = (queries: number) => {
      left -= queries;
      if (left < 0) throw new Error('no queries left');
    };
    await finishErasures(ctxOf(accountId), null, spend).catch(() => {});
  };
  const stopped = [];
  for (let queries = 20; (await pending()) !== 0 && queries < 100; queries++) {
    await goOn(queries);
    stopped.push(await counts());
  }
  expect(stopped.some(({ ann, erased }) => Number(ann) > 0 && Number(erased) > 0)).toBe(true);
  expect(stopped.at(-1)).toEqual({ ann: 0, erased: 401, joann: 401 });
});

test('an offer that is saved while a customer is erased from it keeps what was saved, without the customer', async () => {
  const shop = await openShop();
  const save = (size: number) =>
    shop.offer('pro', {
      grant: 'perpetual',
      terms: { entitlements: { contact: 'Ask ann@shop.co', size } },
    });
  await save(3);
  const isSaved = doBefore(/^\s*UPDATE "offers" SET/, () => save(4));
  expect(await erase(shop, 'ann@shop.co')).toBe('200 ok');
  expect(isSaved()).toBe(true);
  const terms = accountsD1.prepare('SELECT terms FROM offers WHERE store_id = ?').bind(shop.storeId);
  expect(JSON.parse((await terms.first<string>('terms')) ?? '')).toMatchObject({
    entitlements: { contact: 'Ask erased@customer.invalid', size: 4 },
  });
});

test('a fact that is replaced while a customer is erased from it stays replaced, without the customer', async () => {
  const shop = await openShop();
  const named = { kind: 'ended', about: 'invoice/1', number: 'of ann@shop.co' };
  await accountsD1
    .prepare('INSERT INTO purchase_facts (account_id, store_id, name, fact, taken_at) VALUES (?, ?, ?, ?, 1)')
    .bind(shop.ada.accountId, shop.storeId, 'invoice/1 ended', JSON.stringify(named))
    .run();
  const ofStore = (query: string) => accountsD1.prepare(`${query} WHERE store_id = ?`).bind(shop.storeId);
  const isReplaced = doBefore(/^update "purchase_facts" set .*json_each/s, () =>
    ofStore("UPDATE purchase_facts SET fact = json_set(fact, '$.version', 2)").run(),
  );
  expect(await erase(shop, 'ann@shop.co')).toBe('200 ok');
  expect(isReplaced()).toBe(true);
  const fact = await ofStore('SELECT fact FROM purchase_facts').first<string>('fact');
  expect(JSON.parse(fact ?? '')).toEqual({ ...named, number: 'of erased@customer.invalid', version: 2 });
});
