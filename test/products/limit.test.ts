import { expect, test } from 'vitest';
import { type Customer, outcomeOf, signUp, tallyOf } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { importAs } from '../transfer/transfer.ts';

const insertProducts = ({ accountId }: Customer, count: number) =>
  accountsD1
    .prepare(
      `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
      INSERT INTO products (account_id, code, terms, created_at, updated_at) SELECT ?1, 'old-' || i, '{}', 1, 1 FROM n`,
    )
    .bind(accountId, count)
    .run();

const put = (ada: Customer, code: string) => ada.asSession('PUT', `/api/v1/products/${code}`, { name: code });
const countProducts = ({ accountId }: Customer) =>
  accountsD1.prepare('SELECT count(*) AS n FROM products WHERE account_id = ?').bind(accountId).first('n');

test('an account has at most 1,000 products, also if they are created in parallel', async () => {
  const ada = await signUp();
  await insertProducts(ada, 995);
  const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => put(ada, `new-${i}`)));
  expect(tallyOf(answers)).toEqual({ '201 ok': 5, '403 limit_reached': 5 });
  expect(answers.find(({ status }) => status === 403)?.body.error.details).toEqual([
    { path: 'products', message: 'An account has at most 1000 products. Delete one first.' },
  ]);
  expect(outcomeOf(await put(ada, 'old-1'))).toBe('200 ok');
  expect(outcomeOf(await ada.asSession('DELETE', '/api/v1/products/old-1'))).toBe('200 ok');
  expect(outcomeOf(await put(ada, 'another'))).toBe('201 ok');
  expect(await countProducts(ada)).toBe(1_000);
});

test('an import beside other calls keeps within the limit of products', async () => {
  const ada = await signUp();
  await insertProducts(ada, 990);
  const lines = Array.from({ length: 8 }, (_, i) => `{"type":"product","code":"imported-${i}"}\n`).join('');
  const [imported] = await Promise.all([
    importAs(ada, lines, ''),
    ...Array.from({ length: 8 }, (_, i) => put(ada, `put-${i}`)),
  ]);
  expect(await countProducts(ada)).toBe(1_000);
  const again = await importAs(ada, `${lines}{"type":"product","code":"one-more"}\n`, '?on_conflict=skip');
  expect(again.answers.at(-1)).toMatchObject({ result: 'failed', error: { code: 'limit_reached' } });
  expect(imported.totals.failed).toBeLessThanOrEqual(8);
});
