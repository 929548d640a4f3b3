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

const openHints = () => {
  const hinted: string[] = [];
  const sendBatch = async (messages: { body: { account_id: string } }[]) => {
    hinted.push(...messages.map(({ body }) => body.account_id));
  };
  const db = databaseOf(env, 'acct_busy');
  const ctx = { env: { ...env, WEBHOOKS: { sendBatch } } as unknown as Env, db };
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
  await insertMails('acct_busier', 19_000);
  await insertMails('acct_last', 1);
  expect(await run()).toEqual(['acct_busy', 'acct_other', 'acct_busier']);
  expect(await run()).toEqual(['acct_busier', 'acct_last']);
  expect(await run()).toEqual(['acct_busy', 'acct_other', 'acct_busier']);
});

test('a run reads so many pages that its queries are few of those that D1 allows', async () => {
  await insertMails('acct_of_many', 30_000);
  const { statements } = await recordStatements(openHints().run);
  expect(statements.filter((statement) => statement.includes('LIMIT')).length).toBe(24);
});
