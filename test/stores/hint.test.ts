import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { databaseOf } from '../../src/db/client.ts';
import { hintStores } from '../../src/stores/scheduled/hint.ts';
import { recordStatements } from '../support/d1-queries.ts';
import { accountsD1 } from '../support/databases.ts';

const insertMails = (accountId: string, count: number) =>
  accountsD1
    .prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
      INSERT INTO purchase_mails (account_id, purchase_id, number, due_at, created_at) SELECT ?1, ?1 || i, 1, 1, 1 FROM n`,
    )
    .bind(accountId, count)
    .run();

const openHints = (databases: Partial<Env> = {}) => {
  const hinted: string[] = [];
  const sendBatch = async (messages: { body: { account_id: string } }[]) => {
    hinted.push(...messages.map(({ body }) => body.account_id));
  };
  const db = databaseOf(env, 'acct_busy');
  const ctx = { env: { ...env, ...databases, WEBHOOKS: { sendBatch } } as unknown as Env, db };
  return {
    run: async () => {
      await hintStores(ctx);
      return hinted.splice(0);
    },
  };
};

test('an account with thousands of emails that are due keeps no other account waiting', async () => {
  const { run } = openHints();
  await insertMails('acct_busy', 3_000);
  await insertMails('acct_other', 1);
  expect(await run()).toEqual(['acct_busy', 'acct_other']);
  await insertMails('acct_busier', 9_000);
  await insertMails('acct_last', 1);
  expect(await run()).toEqual(['acct_busy', 'acct_other', 'acct_busier']);
  expect(await run()).toEqual(['acct_busier', 'acct_last']);
  expect(await run()).toEqual(['acct_busy', 'acct_other', 'acct_busier']);
});

test('the hints of a run share one budget of pages, however many databases it reads', async () => {
  await insertMails('acct_of_many', 12_000);
  const databases = (count: number) => {
    const others = Array.from({ length: count - 1 }, (_, i) => `MORE${2_001 + i}`);
    const bound = Object.fromEntries(others.map((name) => [name, env.DB2]));
    const names = others.map((name) => `${name}@${name.slice(-4)}-01-01`);
    return { ...bound, DATABASES: ['DB', ...names].join(', ') } as Partial<Env>;
  };
  const pagesOfRun = async (count: number) => {
    const { run } = openHints(databases(count));
    const { statements } = await recordStatements(run);
    return count * statements.filter((statement) => statement.includes('LIMIT')).length;
  };
  const pages = [];
  for (const count of [1, 2, 5, 10, 20]) pages.push(await pagesOfRun(count));
  expect(Math.max(...pages)).toBeLessThanOrEqual(100);
});
