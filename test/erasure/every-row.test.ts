import { expect, test } from 'vitest';
import { outcomeOf, signUp } from '../support/client.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { finishErasure } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { CUSTOMER, furnishAccount, furnishUser, OWNER, SHOP } from '../support/furnished.ts';
import { findInD1, findLeftovers } from '../support/leftovers.ts';

/** Tables that have nothing of an account: hashes, facts of the payment provider, and how far the service is. */
const OF_SERVICE = [
  'applied_facts',
  'd1_migrations',
  'database_identity',
  'expiry_pass',
  'scheduled_positions',
  'throttles',
];
/** What nobody could read an account's name in: numbers of a search index. */
const OF_INDEX = /^license_trigrams/;

const tablesOf = async (d1: D1Database) => {
  const { results } = await d1
    .prepare(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT GLOB '*sqlite_*'",
    )
    .all<{ name: string }>();
  const names = results.map(({ name }) => name).filter((name) => !name.startsWith('_cf_'));
  return names.filter((name) => !OF_SERVICE.includes(name) && !OF_INDEX.test(name)).toSorted();
};

test('an erased account has no row in any table of any database, nor anything in its objects', async () => {
  useFakeClock();
  const ada = await signUp();
  const license = await furnishAccount(ada);
  const { pending, code } = await furnishUser(ada);
  await accountsD1
    .prepare("INSERT INTO moved_accounts VALUES (?, 'guest', NULL, 1)")
    .bind(ada.accountId)
    .run();
  await firstD1
    .prepare("INSERT INTO account_places (id, binding, changed_at) VALUES (?, 'DB2', 1)")
    .bind(ada.accountId)
    .run();
  const texts = [
    ada.accountId,
    ada.email,
    pending,
    OWNER,
    SHOP,
    'Grace-Hopper',
    CUSTOMER,
    license.license_key,
  ];
  const inD1 = [...(await findInD1(firstD1, texts)), ...(await findInD1(accountsD1, texts))];
  const tables = new Set([...(await tablesOf(firstD1)), ...(await tablesOf(accountsD1))]);
  expect([...tables].filter((table) => !inD1.includes(table))).toEqual([]);
  expect(await findLeftovers(ada.accountId, texts)).toEqual(
    expect.arrayContaining(['gate 1: activations', 'outbox: deliveries', 'outbox: endpoints']),
  );
  const confirmed = { current_password: ada.password, confirm: ada.email, code };
  expect(outcomeOf(await ada.asSession('DELETE', '/api/account', confirmed))).toBe('202 ok');
  await finishErasure(ada.accountId);
  expect(await findLeftovers(ada.accountId, texts)).toEqual([]);
});

test('the erasure of an account leaves what the service notes of its own, such as whose licenses expire next', async () => {
  useFakeClock();
  const ada = await signUp();
  const note = {
    id: 1,
    day: '2027-01-02',
    account_id: ada.accountId,
    step: 1,
    license_id: 'lic_x',
    told_through: '',
  };
  const read = () => accountsD1.prepare('SELECT * FROM expiry_pass').first();
  await accountsD1
    .prepare(
      "INSERT OR REPLACE INTO expiry_pass SELECT value ->> 'id', value ->> 'day', value ->> 'account_id', value ->> 'step', value ->> 'license_id', value ->> 'told_through' FROM json_each(?)",
    )
    .bind(JSON.stringify([note]))
    .run();
  expect(await read()).toEqual(note);
  const confirmed = { current_password: ada.password, confirm: ada.email };
  expect(outcomeOf(await ada.asSession('DELETE', '/api/account', confirmed))).toBe('202 ok');
  await finishErasure(ada.accountId);
  expect(await findInD1(accountsD1, [ada.accountId])).toEqual(['expiry_pass']);
  expect(await read()).toEqual(note);
});
