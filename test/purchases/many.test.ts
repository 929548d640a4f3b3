import { expect, test } from 'vitest';
import { openShop, paid, type Shop } from '../stores/shop.ts';
import type { Json } from '../support/client.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { accountsD1 } from '../support/databases.ts';

const MANY = 200;

const sell = async (shop: Shop, order: string, quantity: number) => {
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid(order, { quantity }));
};

const countStatements = async (shop: Shop, body: object) =>
  (await recordStatements(() => shop.notify(body))).statements.length;

const countRows = (table: string, where: string, accountId: string) =>
  accountsD1
    .prepare(`SELECT count(*) AS n FROM ${table} WHERE account_id = ? AND ${where}`)
    .bind(accountId)
    .first('n');

test('the refund of 200 licenses makes about as many statements as that of one', async () => {
  const shop = await openShop();
  await sell(shop, '1', 1);
  await sell(shop, '2', MANY);
  const ofOne = await countStatements(shop, { type: 'refunded', order: '1' });
  const ofMany = await countStatements(shop, { type: 'refunded', order: '2' });
  expect(ofMany).toBeLessThan(ofOne + 10);
  const { accountId } = shop.ada;
  expect(await countRows('licenses', "status = 'revoked'", accountId)).toBe(MANY + 1);
  expect(await countRows('audit_log', "action = 'license.revoke'", accountId)).toBe(MANY + 1);
  expect(await countRows('license_changes', "after ->> 'status' = 'revoked'", accountId)).toBe(MANY + 1);
  const [license] = (await shop.licenses()) as [Json];
  expect((await shop.ada.verify(license.license_key)).body).toMatchObject({ status: 'revoked' });
});

test('of many licenses, those that somebody has changed since keep that in a refund', async () => {
  const shop = await openShop();
  await sell(shop, '1', 4);
  const [first, second] = (await shop.licenses()) as [Json, Json];
  await shop.ada.asSession('POST', `/api/v1/licenses/${first.id}/suspend`);
  await shop.ada.asSession('PATCH', `/api/v1/licenses/${second.id}`, { terms: { max_activations: 9 } });
  await shop.notify({ type: 'disputed', order: '1' });
  await shop.notify({ type: 'dispute_won', order: '1' });
  const now = (await shop.licenses()).map(({ status, terms }) => [status, terms.max_activations]);
  expect(now).toEqual([
    ['suspended', undefined],
    ['active', 9],
    ['active', undefined],
    ['active', undefined],
  ]);
});
