import { expect, test } from 'vitest';
import { begin, press } from '../billing/sandbox.ts';
import { openShop, paid } from '../stores/shop.ts';
import { type Customer, outcomeOf, signUp } from '../support/client.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { finishErasure } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { findInD1, findLeftovers } from '../support/leftovers.ts';
import { addEndpoint, waitUntil } from '../support/outbox.ts';
import { openPortal, signInByApplication } from '../support/portal.ts';
import { newReceiver } from '../support/receiver.ts';
import { openBranch, setHome } from '../support/regions.ts';
import { asVisitor, login, verifyAddress } from '../support/sign-in.ts';
import { enableTwoFactor } from '../support/two-factor.ts';
import { importAs, toLines } from '../transfer/transfer.ts';

// An account with a row in every table that can have one, and its owner's name in every text of its own.

const OWNER = 'Grace Hopper';
const CUSTOMER = 'yolanda@customers.example';
const SHOP = 'https://grace-hopper.example';

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

/** How an owner signs in, and what is under way. */
const furnishUser = async (ada: Customer) => {
  await verifyAddress(ada.accountId);
  // One more than the emails that an address gets in an hour.
  const same = { current_password: ada.password, password: ada.password };
  for (let i = 0; i < 6; i++)
    expect(outcomeOf(await ada.asSession('POST', '/api/change-password', same))).toBe('200 ok');
  const held = firstD1
    .prepare('SELECT count(*) AS n FROM held_notices WHERE account_id = ?')
    .bind(ada.accountId);
  await waitUntil(async () => held.first<number>('n'), Boolean);
  expect(outcomeOf(await login(ada.email, ada.password))).toBe('200 ok');
  const { recoveryCodes } = await enableTwoFactor(ada);
  await asVisitor('/api/forgot-password', { email: ada.email });
  const email = `new-${ada.email}`;
  const change = { email, current_password: ada.password };
  expect(outcomeOf(await ada.asSession('POST', '/api/change-email', change))).toBe('202 ok');
  await firstD1
    .prepare("INSERT INTO invitations VALUES ('inv_1', 'hash', ?, 1, 9999999999999)")
    .bind(ada.email)
    .run();
  return { pending: email, code: recoveryCodes[0] };
};

/** What an owner sells, and with what. */
const furnishAccount = async (ada: Customer) => {
  await setHome(ada.accountId, 'enam');
  const settings = { name: OWNER, allowed_origins: [SHOP], muted_emails: ['usage'] };
  expect((await ada.asSession('PATCH', '/api/account', settings)).status).toBe(200);
  const urls = { success_url: `${SHOP}/thanks`, cancel_url: `${SHOP}/no` };
  await press((await begin(ada, urls)).checkout_url, 'paid');
  const shop = await openShop({}, ada);
  await shop.offer('pro', { grant: 'perpetual' });
  await shop.notify(paid('1', { email: CUSTOMER }));
  await accountsD1
    .prepare("INSERT INTO product_mails (account_id, product, updated_at) VALUES (?, 'mill', 1)")
    .bind(ada.accountId)
    .run();
  await ada.asSession('PUT', '/api/v1/products/mill', { name: OWNER, terms: { max_activations: 2 } });
  await ada.asSession('POST', '/api/create-api-key', { name: OWNER }, { 'idempotency-key': 'Grace-Hopper' });
  const endpoint = await addEndpoint(ada, (await newReceiver({ status: 500, echoes: true })).url, {
    description: OWNER,
  });
  const license = await ada.createLicense({ customer_email: CUSTOMER, product: 'mill' });
  await ada.asSession('POST', `/api/v1/licenses/${license.id}/suspend`, { reason: OWNER });
  await ada.asSession('POST', `/api/v1/licenses/${license.id}/reinstate`);
  const seat = { license_key: license.license_key, fingerprint: 'machine-1', name: OWNER };
  expect((await ada.asKey('POST', '/api/v1/licenses/activate', seat)).body.code).toBe('valid');
  await importAs(ada, toLines([{ customer_name: OWNER, product: 'mill' }]));
  await openBranch('oc', ada, (await ada.createLicense()).license_key);
  await waitUntil(endpoint.deliveries, (all) => all.some(({ attempts }) => attempts.length > 0));
  const slug = await openPortal(ada, { name: OWNER, support_url: SHOP });
  await ada.asKey('POST', '/api/v1/portal-sessions', { license_id: license.id, return_url: SHOP });
  const { asCustomer } = await signInByApplication(ada, slug, { customer_email: CUSTOMER });
  await verifyAddress(ada.accountId);
  await asCustomer('POST', '/change-email', { email: 'zoe@customers.example' });
  // What an outbox and an erasure note for a while.
  const { accountId } = ada;
  await accountsD1.batch([
    accountsD1
      .prepare(
        "INSERT OR IGNORE INTO object_states (account_id, object, loading, waiting, failing_endpoints) VALUES (?, 'outbox', 0, 1, 1)",
      )
      .bind(accountId),
    accountsD1
      .prepare("INSERT INTO erasures (account_id, kind, subject, created_at) VALUES (?, 'customer', ?, 1)")
      .bind(accountId, CUSTOMER),
    accountsD1
      .prepare("INSERT INTO feed (account_id, kind, ref, created_at) VALUES (?, 'account', 'x', 1)")
      .bind(accountId),
  ]);
  return license;
};

test('an erased account has no row in any table of any database, nor anything in its objects', async () => {
  const ada = await signUp();
  const license = await furnishAccount(ada);
  const { pending, code } = await furnishUser(ada);
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
  useFakeClock();
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
