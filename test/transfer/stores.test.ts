import { expect, test } from 'vitest';
import { exportLines } from '../../src/transfer/export.ts';
import { openShop, paid, SECRET } from '../stores/shop.ts';
import type { Json } from '../support/client.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { atOnce, exportAll, ofType } from './transfer.ts';

test('an export has stores without their secrets, offers, and purchases with what the stores have said', async () => {
  const shop = await openShop();
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1001'));
  const [license] = await shop.licenses();
  const lines = await exportAll(shop.ada);
  expect(ofType(lines, 'store')).toMatchObject([{ id: shop.storeId, provider: 'generic', has_secret: true }]);
  expect(ofType(lines, 'offer')).toMatchObject([{ store_id: shop.storeId, ref: 'pro', product: 'mill' }]);
  expect(ofType(lines, 'purchase')).toMatchObject([
    {
      order: '1001',
      status: 'fulfilled',
      license_ids: [license.id],
      facts: [{ kind: 'paid', about: 'order/1001' }],
    },
  ]);
  expect(JSON.stringify(lines)).not.toContain(SECRET);
});

test('an export has what the emails to the buyers of each product say', async () => {
  const { ada } = await openShop();
  await ada.asSession('PATCH', '/api/v1/products/mill/mail', { intro: 'Open Mill and enter the key.' });
  expect(ofType(await exportAll(ada), 'product_mail')).toEqual([
    {
      type: 'product_mail',
      code: 'mill',
      from_name: null,
      intro: 'Open Mill and enter the key.',
      support_url: null,
    },
  ]);
});

/** Each of so many purchases was renewed so often. */
const PURCHASES = 300;
const RENEWALS = 24;

test('a page of an export stays small, however much stores have said of its purchases', async () => {
  const { ada, storeId, notify } = await openShop();
  await notify(paid('1001'));
  const numbers = (last: number) =>
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`;
  await accountsD1.batch([
    accountsD1
      .prepare(
        `INSERT INTO purchases (id, account_id, store_id, provider, status, created_at, updated_at)
         ${numbers(PURCHASES)} SELECT 'copy_' || i, account_id, store_id, provider, status, created_at, updated_at
         FROM purchases, n WHERE store_id = ?`,
      )
      .bind(storeId),
    accountsD1
      .prepare(
        `INSERT INTO purchase_facts (account_id, store_id, name, purchase_id, fact, taken_at)
         ${numbers(RENEWALS)} SELECT p.account_id, p.store_id, p.id || ' ' || i, p.id,
           json_object('kind', 'paid', 'about', 'order/' || i, 'note', ?2), p.created_at
         FROM purchases AS p, n WHERE p.store_id = ?1 AND p.id GLOB 'copy_*'`,
      )
      .bind(storeId, 'é'.repeat(250)),
  ]);
  let largest = 0;
  const lines: Json[] = [];
  for await (const page of exportLines(ctxOf(ada.accountId), atOnce)) {
    largest = Math.max(largest, new TextEncoder().encode(JSON.stringify(page)).length);
    lines.push(...page);
  }
  expect(largest).toBeGreaterThan(500_000);
  expect(largest).toBeLessThan(1_500_000);
  const copies = ofType(lines, 'purchase').filter(({ id }) => id.startsWith('copy_'));
  expect(copies.map(({ facts }) => facts.length)).toEqual(Array.from({ length: PURCHASES }, () => RENEWALS));
});
