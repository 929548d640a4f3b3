import { expect, test } from 'vitest';
import { pruneKeys } from '../../src/api-keys/prune.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { gate, tamper } from '../support/gate.ts';

const createKey = async (ada: Customer): Promise<Json> =>
  (await ada.asSession('POST', '/api/create-api-key', {})).body;

/** Deletes a key as if `days` ago, and lets the gate delete the feed row of the deletion. */
const deleteKey = async (ada: Customer, id: string, days: number) => {
  expect((await ada.asSession('DELETE', `/api/api-keys/${id}`)).status).toBe(200);
  await gate(ada.accountId).pull();
  await accountsD1
    .prepare('UPDATE api_keys SET deleted_at = ? WHERE id = ?')
    .bind(Date.now() - days * DAY_MS, id)
    .run();
};

const hasRow = async (id: string) =>
  (await accountsD1.prepare('SELECT 1 FROM api_keys WHERE id = ?').bind(id).first()) !== null;

test.for(['creation', 'deletion'])(
  'the %s of a key deletes the rows of keys deleted 90 days ago',
  async (by) => {
    const ada = await signUp();
    const [old, recent, spare] = [await createKey(ada), await createKey(ada), await createKey(ada)];
    await deleteKey(ada, old.id, 90);
    await deleteKey(ada, recent.id, 89);
    const bob = await signUp();
    const bobs = await createKey(bob);
    await deleteKey(bob, bobs.id, 91);

    await (by === 'creation' ? createKey(ada) : deleteKey(ada, spare.id, 0));
    expect([await hasRow(old.id), await hasRow(recent.id), await hasRow(bobs.id)]).toEqual([
      false,
      true,
      true,
    ]);
    expect((await ada.asSession('GET', `/api/api-keys/${old.id}`)).status).toBe(404);
    expect((await ada.verify('AAAAAAAA', old.api_key)).status).toBe(403);
    // A gate that has lost its copy and loads it again doesn't know the key either.
    await tamper(ada.accountId, 'DELETE FROM facts; DELETE FROM keys; DELETE FROM licenses');
    expect((await ada.verify('AAAAAAAA', old.api_key)).status).toBe(403);
    await gate(ada.accountId).pull();
    expect((await ada.verify('AAAAAAAA', old.api_key)).status).toBe(403);
    expect((await ada.verify('AAAAAAAA')).status).toBe(200);
  },
);

test('the row of an account’s first key stays, so that developer progress keeps its date', async () => {
  const ada = await signUp();
  const firstStep = async () => {
    const { body } = await ada.asSession('GET', '/api/developer-progress');
    return body.steps.find(({ id }: Json) => id === 'create_api_key');
  };
  const before = await firstStep();
  await deleteKey(ada, ada.apiKeyId, 400);
  await createKey(ada);
  expect([before.done, await firstStep()]).toEqual([true, before]);
});

test('a deletion that the gate has not applied keeps the row', async () => {
  const ada = await signUp();
  const key = await createKey(ada);
  await deleteKey(ada, key.id, 90);
  await accountsD1
    .prepare(`INSERT INTO feed (account_id, kind, ref, created_at) VALUES (?, 'key', ?, 0)`)
    .bind(ada.accountId, key.id)
    .run();
  await createKey(ada);
  expect(await hasRow(key.id)).toBe(true);
  await gate(ada.accountId).pull();
  await createKey(ada);
  expect(await hasRow(key.id)).toBe(false);
});

test('the prune finds its rows by an index', async () => {
  const details: string[] = [];
  for (const statement of pruneKeys(ctxOf(newId('acct')), 0)) {
    const { sql, params } = statement.toSQL();
    const explain = accountsD1.prepare(`EXPLAIN QUERY PLAN ${sql}`).bind(...params);
    const { results } = await explain.all<{ detail: string }>();
    details.push(results.map(({ detail }) => detail).join('\n'));
  }
  expect(details[0]).toContain('api_keys_live (account_id=?)');
  expect(details[1]).toContain('api_keys_deleted (account_id=? AND deleted_at<?)');
});
