import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { putOffer } from '../../src/stores/offers.ts';
import { putOfferInput } from '../../src/stores/schemas.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { doMeanwhile } from '../support/d1-queries.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { openShop, paid, type Shop } from './shop.ts';
import { invoice } from './stripe-bodies.ts';
import { openStripe } from './stripe-shop.ts';

afterEach(() => vi.restoreAllMocks());

const work = async ({ ada }: Shop) => {
  for (let steps = 0; steps < 4; steps++) await workOnStores(env, ada.accountId);
};

const countDue = ({ storeId }: Shop) =>
  accountsD1
    .prepare('SELECT count(*) AS n FROM purchases WHERE decide_at IS NOT NULL AND store_id = ?')
    .bind(storeId)
    .first('n');

/** Copies the rows that a store has in a table, with other ids. */
const copyRows = async (
  { storeId }: Shop,
  table: string,
  copies: number,
  changed: Record<string, string>,
) => {
  const { results } = await accountsD1.prepare(`PRAGMA table_info(${table})`).all<{ name: string }>();
  const columns = results.map(({ name }) => name).filter((name) => name !== 'bytes');
  const values = columns.map((name) => changed[name] ?? name);
  await accountsD1
    .prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${copies})
       INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM n CROSS JOIN ${table}
       WHERE store_id = ?`,
    )
    .bind(storeId)
    .run();
};

test('saving an offer fulfills what was unmapped for it, whatever else is unmapped', async () => {
  const shop = await openShop();
  await shop.notify(paid('1', { offer: 'shirt' }));
  await copyRows(shop, 'purchases', 5_000, { id: "id || '_' || i" });
  await shop.notify(paid('2'));
  await shop.offer('pro', { grant: 'perpetual' });
  expect(await shop.purchases('?q=2')).toMatchObject([{ status: 'fulfilled' }]);
  expect(await countDue(shop)).toBe(0);
});

test('of many purchases that wait for an offer, some are let be decided at a time, until all are', async () => {
  const shop = await openShop();
  await shop.notify(paid('1'));
  await copyRows(shop, 'purchase_things', 1_100, {
    thing: "thing || '_' || i",
    purchase_id: "purchase_id || '_' || i",
  });
  await copyRows(shop, 'purchases', 1_100, { id: "id || '_' || i" });
  await shop.offer('pro', { grant: 'perpetual' });
  const asDecided = accountsD1
    .prepare(
      "UPDATE purchases SET decide_at = NULL, status = 'ended' WHERE decide_at IS NOT NULL AND store_id = ?",
    )
    .bind(shop.storeId);
  const left: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    await asDecided.run();
    left.push((await shop.purchases('?status=unmapped&limit=100')).length);
    await workOnStores(env, shop.ada.accountId);
  }
  expect(left).toEqual([100, 100, 0]);
  const due = accountsD1.prepare(
    'SELECT count(*) AS n FROM offers WHERE decide_at IS NOT NULL AND store_id = ?',
  );
  expect(await due.bind(shop.storeId).first('n')).toBe(0);
});

/** Saves an offer, without the work that follows, once the decision of a purchase has read which offers there are. */
const saveMeanwhile = ({ ada, storeId }: Shop, grant: 'perpetual' | 'subscription') =>
  doMeanwhile(/from "offers" where \("offers"."store_id"/, () =>
    putOffer(ctxOf(ada.accountId), storeId, 'pro', putOfferInput.parse({ product: 'mill', grant })),
  );

test('an offer that is saved while its first purchase is being decided fulfills it', async () => {
  const shop = await openShop();
  const isSaved = saveMeanwhile(shop, 'perpetual');
  await shop.notify(paid('1'));
  expect(isSaved()).toBe(true);
  await work(shop);
  expect(await shop.purchases()).toMatchObject([{ status: 'fulfilled' }]);
});

test('an offer that is saved while an unmapped purchase is decided again fulfills it', async () => {
  const shop = await openShop();
  await shop.notify(paid('1', { period_end: '2099-01-31' }));
  const isSaved = saveMeanwhile(shop, 'subscription');
  await shop.notify({ type: 'renewed', order: '1', period_end: '2099-02-28' });
  expect(isSaved()).toBe(true);
  await work(shop);
  expect(await shop.purchases()).toMatchObject([{ status: 'fulfilled' }]);
});

test('an offer that is changed while a sale that it did not fit is being decided fulfills it', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'subscription' });
  const isSaved = saveMeanwhile(shop, 'perpetual');
  await shop.notify(paid('1'));
  expect(isSaved()).toBe(true);
  await work(shop);
  expect(await shop.purchases()).toMatchObject([{ status: 'fulfilled' }]);
  expect(await countDue(shop)).toBe(0);
});

test('a sale for which its offer does not fit is decided once for each change of the offer', async () => {
  const shop = await openShop();
  const decisions = () =>
    accountsD1
      .prepare('SELECT version, decide_at FROM purchases WHERE store_id = ?')
      .bind(shop.storeId)
      .first();
  const offerDue = (statement: string) => accountsD1.prepare(statement).bind(shop.storeId);
  await shop.offer('pro', { grant: 'subscription' });
  await shop.notify(paid('1'));
  await shop.offer('pro', { grant: 'subscription' });
  expect(await decisions()).toEqual({ version: 2, decide_at: null });
  // As if more purchases had waited for the change than a turn may let be decided.
  await offerDue('UPDATE offers SET decide_at = 1 WHERE store_id = ?').run();
  await work(shop);
  expect(await decisions()).toEqual({ version: 2, decide_at: null });
  expect(await offerDue('SELECT decide_at FROM offers WHERE store_id = ?').first()).toEqual({
    decide_at: null,
  });
});

test('a purchase of two things waits for both offers, and is decided only by what it names', async () => {
  const shop = await openStripe();
  const [line] = invoice({ n: 1 }, 1, '2099-01-01').lines.data;
  const other = { ...line, id: 'il_2', pricing: { price_details: { price: 'price_b', product: 'prod_b' } } };
  await shop.send('invoice.paid', invoice({ n: 1 }, 1, '2099-01-01', { lines: { data: [line, other] } }));
  const state = () =>
    accountsD1.prepare('SELECT status, version FROM purchases WHERE store_id = ?').bind(shop.storeId).first();
  const saveAll = async (...refs: string[]) => {
    for (const ref of refs) await shop.offer(ref, { grant: 'subscription' });
    return state();
  };
  expect(await state()).toEqual({ status: 'unmapped', version: 1 });
  expect(await saveAll('price', 'price_', 'price_b/1', 'prod_c')).toEqual({ status: 'unmapped', version: 1 });
  expect(await saveAll('price_pro', 'price_pro')).toEqual({ status: 'unmapped', version: 2 });
  expect(await saveAll('prod_b')).toEqual({ status: 'fulfilled', version: 3 });
  const rows = accountsD1.prepare(
    "SELECT count(*) AS n FROM purchase_things WHERE store_id = ? AND thing LIKE 'missing-offer/%'",
  );
  expect(await rows.bind(shop.storeId).first('n')).toBe(0);
});

test('a purchase that the release before has left unmapped is found by its offer, too', async () => {
  const shop = await openShop();
  await shop.notify(paid('1'));
  const ofStore = (statement: string) => accountsD1.prepare(statement).bind(shop.storeId);
  const { results } = await ofStore('SELECT * FROM purchase_facts WHERE store_id = ?').all();
  const columns = Object.keys(results[0] ?? {}).filter((name) => name !== 'bytes');
  const values = columns.map((name) => `value ->> '${name}'`);
  // It writes its row and then the facts, and nothing of what is missing.
  await accountsD1.batch([
    ofStore("DELETE FROM purchase_things WHERE store_id = ? AND thing LIKE 'missing-offer/%'"),
    ofStore('DELETE FROM purchase_facts WHERE store_id = ?'),
    accountsD1
      .prepare(
        `INSERT INTO purchase_facts (${columns.join(', ')}) SELECT ${values.join(', ')} FROM json_each(?)`,
      )
      .bind(JSON.stringify(results)),
  ]);
  await shop.offer('pro', { grant: 'perpetual' });
  expect(await shop.purchases()).toMatchObject([{ status: 'fulfilled' }]);
});

const COLUMNS = 'account_id, store_id, purchase_id, name, fact, taken_at';

test.for([
  ['replaces another one', 'name, ?2'],
  ['names nothing', `'order/1 linked', '{"kind": "linked", "about": "order/1"}'`],
] as const)('an offer finds what the release before leaves unmapped by a fact that %s', async ([, fact]) => {
  const shop = await openShop();
  await shop.notify(paid('1'));
  const ofStore = (statement: string, ...more: unknown[]) =>
    accountsD1.prepare(statement).bind(shop.storeId, ...more);
  const sent = await ofStore('SELECT fact FROM purchase_facts WHERE store_id = ?').first('fact');
  const isReplaced = fact.startsWith('name');
  await accountsD1.batch([
    ofStore("DELETE FROM purchase_things WHERE store_id = ? AND thing LIKE 'missing-offer/%'"),
    ofStore("UPDATE purchases SET status = 'pending' WHERE store_id = ?"),
    ...(isReplaced
      ? [ofStore("UPDATE purchase_facts SET fact = json_remove(fact, '$.lines') WHERE store_id = ?")]
      : []),
  ]);
  // It writes its row and then the facts, and nothing of what is missing.
  await accountsD1.batch([
    ofStore("UPDATE purchases SET status = 'unmapped' WHERE store_id = ?"),
    ofStore(
      `INSERT INTO purchase_facts (${COLUMNS}) SELECT account_id, store_id, purchase_id, ${fact}, taken_at
       FROM purchase_facts WHERE store_id = ?1
       ON CONFLICT (store_id, name) DO UPDATE SET fact = excluded.fact, purchase_id = excluded.purchase_id`,
      ...(isReplaced ? [sent] : []),
    ),
  ]);
  await shop.offer('pro', { grant: 'perpetual' });
  expect(await shop.purchases()).toMatchObject([{ status: 'fulfilled' }]);
});

test('days that an offer lacks, or has without need, are refused by what they are', () => {
  const refusalOf = (offer: object) => putOfferInput.safeParse({ product: 'mill', ...offer }).error?.issues;
  expect(refusalOf({ grant: 'days' })).toMatchObject([
    { path: ['days'], message: 'is required with the grant “days”' },
  ]);
  expect(refusalOf({ grant: 'perpetual', days: 30 })).toMatchObject([
    { path: ['days'], message: 'belongs to the grant “days”, and to no other' },
  ]);
});
