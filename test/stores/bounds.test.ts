import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { type Json, outcomeOf, signUp, tallyOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { runHourly } from '../support/hourly.ts';
import { keepMails, mailsTo } from '../support/mails.ts';
import { verifyAddress } from '../support/sign-in.ts';
import { exportAll, importAs, ofType, toLines } from '../transfer/transfer.ts';
import { openShop, paid, SECRET } from './shop.ts';
import { session } from './stripe-bodies.ts';
import { openStripe } from './stripe-shop.ts';

test('an account has at most 20 stores, also if they come at once', async () => {
  const ada = await signUp();
  const add = () =>
    ada.asSession('POST', '/api/stores', { provider: 'generic', name: 'Shop', secret: SECRET });
  const answers = await Promise.all(Array.from({ length: 23 }, add));
  expect(tallyOf(answers)).toEqual({ '201 ok': 20, '403 limit_reached': 3 });
});

test('bodies of stores are kept for 30 days, and what they have said stays', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  for (const order of ['1', '2']) await shop.notify(paid(order));
  const messages = async () =>
    (await accountsD1.prepare('SELECT type FROM store_messages WHERE store_id = ?').bind(shop.storeId).all())
      .results;
  const received =
    'UPDATE store_messages SET received_at = received_at - ? WHERE store_id = ? AND rowid = (SELECT min(rowid) FROM store_messages WHERE store_id = ?)';
  await accountsD1
    .prepare(received)
    .bind(30 * 86_400_000 + 60_000, shop.storeId, shop.storeId)
    .run();
  expect(await messages()).toHaveLength(2);
  await runHourly();
  expect(await messages()).toHaveLength(1);
  const facts = async ({ id }: Json) => (await shop.ada.asSession('GET', `/api/purchases/${id}`)).body.facts;
  expect((await Promise.all((await shop.purchases()).map(facts))).flat()).toHaveLength(2);
});

test('all bodies of a busy hour 30 days ago are deleted in one run', async () => {
  const { accountId } = await signUp();
  const countIn = (days: number) =>
    accountsD1
      .prepare('SELECT count(*) AS n FROM store_messages WHERE account_id = ? AND received_at <= ?')
      .bind(accountId, Date.now() - days * DAY_MS)
      .first<number>('n');
  await accountsD1
    .prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4500)
      INSERT INTO store_messages (id, account_id, store_id, hash, body, received_at)
      SELECT ?1 || i, ?1, 'sto_busy', ?1 || i, 'sealed', ?2 - i FROM n`,
    )
    .bind(accountId, Date.now() - 30 * DAY_MS)
    .run();
  await accountsD1
    .prepare('UPDATE store_messages SET received_at = ?2 WHERE id = ?1')
    .bind(`${accountId}1`, Date.now() - 29 * DAY_MS)
    .run();
  expect(await countIn(30)).toBe(4_499);
  await runHourly();
  expect([await countIn(30), await countIn(0)]).toEqual([0, 1]);
});

test('the email of a test purchase goes to the seller', async () => {
  keepMails();
  const shop = await openStripe({ accept_test: true });
  await verifyAddress(shop.ada.accountId);
  await shop.offer('plink_1', { grant: 'perpetual' });
  const tested = session(1, { payment_link: 'plink_1', livemode: false });
  await shop.send('checkout.session.completed', tested, { livemode: false });
  for (let steps = 0; steps < 2; steps++) await workOnStores(env, shop.ada.accountId);
  const [license] = await shop.licenses();
  expect(mailsTo('buyer1@example.com')).toEqual([]);
  expect(mailsTo(shop.ada.email)[0]?.text).toContain(license.license_key);
});

test('an export with stores goes in again, with the licenses that were sold', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1'));
  const lines = await exportAll(shop.ada);
  const bob = await signUp();
  const { answers, totals } = await importAs(bob, toLines(lines));
  expect(totals).toMatchObject({ created: 2, failed: 0 });
  expect(answers.filter(({ error }) => error)).toEqual([]);
  const [sold] = ofType(lines, 'license');
  expect((await bob.asSession('GET', '/api/v1/licenses')).body.data).toMatchObject([
    { license_key: sold?.license_key, customer_email: 'grace@example.com' },
  ]);
  expect(outcomeOf(await bob.asSession('GET', '/api/stores'))).toBe('200 ok');
});
