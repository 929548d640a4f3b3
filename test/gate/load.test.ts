import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { databaseOf } from '../../src/db/client.ts';
import { readPage } from '../../src/gate/feed/load.ts';
import { type Customer, signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';
import { evict, gate, readGate, tamper } from '../support/gate.ts';
import { watchRows } from '../support/rows.ts';

const ADDRESSES = JSON.stringify(
  Array.from({ length: 32 }, (_, i) => `2001:db8:1111:2222:3333:4444:5555:${(4096 + i).toString(16)}`),
);

/** Gives an account more keys and products than there may be today, without feed rows. */
const insertLists = async ({ accountId }: Customer, keys: number, products: number) => {
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)';
  await accountsD1.batch([
    accountsD1
      .prepare(
        `${numbers} INSERT INTO api_keys
           (id, account_id, name, scope, fingerprint, secret_id, sealed, masked_key, created_at, allowed_ips)
         SELECT 'key_zz' || i, account_id, name, scope, 'f' || i, secret_id, sealed, masked_key, created_at, ?3
         FROM api_keys, n WHERE account_id = ?1`,
      )
      .bind(accountId, keys, ADDRESSES),
    accountsD1
      .prepare(
        `${numbers} INSERT INTO products (account_id, code, terms, created_at, updated_at)
         SELECT ?1, 'product-' || i, '{"max_activations":1}', 0, 0 FROM n`,
      )
      .bind(accountId, products),
  ]);
};

test('a gate’s load reads any number of keys and products in pages, and then the licenses', async () => {
  const ada = await signUp();
  const license = await ada.createLicense({ product: null });
  await insertLists(ada, 2_100, 1_200);
  const db = databaseOf(env, ada.accountId);
  const { rows } = await readPage(db, ada.accountId, '', { key: '', product: '' });
  expect([rows.keys.length, rows.products.length, rows.licenses.length]).toEqual([500, 500, 0]);

  await runInDurableObject(gate(ada.accountId), (_instance, state) => state.storage.deleteAll());
  await evict(ada.accountId);
  expect((await ada.verify(license.license_key)).body.status).toBe('active');
  const count = async (table: string) =>
    (await readGate<{ n: number }>(ada.accountId, `SELECT count(*) AS n FROM ${table}`))[0]?.n;
  await expect.poll(() => count('licenses')).toBe(1);
  await expect.poll(() => count('keys')).toBe(2_101);
  expect(await count('products')).toBe(1_200);
});

test('deleting an API key doesn’t read the account’s other keys', async () => {
  const ada = await signUp();
  await tamper(
    ada.accountId,
    `INSERT INTO keys (id, fingerprint, scope, deleted)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10_000)
     SELECT 'key_zz' || i, 'f' || i, 'full', 0 FROM n`,
  );
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push((await ada.asSession('POST', '/api/create-api-key', {})).body.id);
  const [first, ...others] = ids;
  await ada.asSession('DELETE', `/api/api-keys/${first}`);
  const rows = await watchRows(ada.accountId);
  for (const id of others) await ada.asSession('DELETE', `/api/api-keys/${id}`);
  expect((await rows.take()).read).toBeLessThan(400);
});
