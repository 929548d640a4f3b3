import { expect, test } from 'vitest';
import type { StoreFact } from '../../src/purchases/rules/facts.ts';
import { takeFacts } from '../../src/purchases/take.ts';
import { openShop } from '../stores/shop.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';

const MANY = 45;

test('all purchases of a buyer get the address that comes later, however many have waited', async () => {
  const { ada, storeId } = await openShop();
  const take = (facts: StoreFact[]) =>
    takeFacts(ctxOf(ada.accountId), { id: storeId, provider: 'paddle' }, facts, null);
  const buyer = { ref: 'customer/ctm_1' as const };
  for (let n = 0; n < MANY; n++) await take([{ kind: 'paid', about: `transaction/${n}`, buyer }]);
  let turns = 1;
  while (!(await take([{ kind: 'buyer', about: buyer.ref, email: 'grace@example.com' }]))) turns++;
  expect(turns).toBe(3);
  const known = accountsD1.prepare(
    'SELECT count(*) AS n FROM purchases WHERE store_id = ? AND customer_email = ?',
  );
  expect(await known.bind(storeId, 'grace@example.com').first('n')).toBe(MANY);
});
