import {
  createScheduledController,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { rememberEpoch } from '../../src/shared/objects/address.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { runScheduled } from '../../src/system/scheduled.ts';
import { call, type Customer, signUp } from '../support/client.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { setPlan } from '../support/gate.ts';
import { contentOf, findInD1, findLeftovers } from '../support/leftovers.ts';
import { gateIn, move } from '../support/moving.ts';
import { addEndpoint, outbox, withOutboxMethod } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { branch, openBranch, presentedKey, setHome } from '../support/regions.ts';
import { watchRestarts } from '../support/restarts.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const CUSTOMER = 'erase-me@customers.example';

const requestErasure = (ada: Customer, sent: object = {}) =>
  ada.asSession('DELETE', '/api/account', { current_password: ada.password, confirm: ada.email, ...sent });

const runErasure = (environment: Env = env) => runScheduled(createScheduledController(), environment);

/** Leaves a row at the object to which a move was given up. */
const giveUpMove = async (accountId: string) => {
  await runInDurableObject(gateIn(accountId, 2), (_gate, { storage: { kv } }) => {
    kv.put('place', { ...kv.get<object>('place'), givenUp: 1 });
  });
  await evictDurableObject(gateIn(accountId, 2));
  const schema = ['CREATE TABLE given_up (email TEXT PRIMARY KEY)'];
  const tables = [{ table: 'given_up', columns: ['email'], rows: [[CUSTOMER]], gone: [] }];
  await gateIn(accountId, 3).receive({ number: 1, region: 'apac-ne', schema, tables });
};

test('an account is erased from every table and object after seven days, and late calls bring nothing back', async () => {
  const ada = await signUp();
  const bob = await signUp();
  await setPlan(ada.accountId, 'scale');
  await setHome(ada.accountId, 'enam');
  await ada.asSession('PUT', '/api/v1/products/erased', { name: 'Erased', terms: { max_activations: 3 } });
  const license = await ada.createLicense({ customer_email: CUSTOMER, product: 'erased' });
  await ada.asSession('PATCH', `/api/v1/licenses/${license.id}`, { customer_name: 'Somebody' });
  const kept = await bob.createLicense();
  await ada.asSession('POST', '/api/init-payment', { plan: 'pro' });
  await addEndpoint(ada, (await newReceiver()).url);
  const seat = { license_key: license.license_key, fingerprint: 'machine-1', name: 'Mill' };
  expect((await ada.asKey('POST', '/api/v1/licenses/activate', seat)).body.code).toBe('valid');
  await openBranch('oc', ada, (await ada.createLicense()).license_key);
  await move(ada.accountId, 'weur');
  await giveUpMove(ada.accountId);
  const number = await accountsD1
    .prepare('SELECT number FROM search_accounts WHERE account_id = ?')
    .bind(ada.accountId)
    .first<number>('number');
  const indexed = () =>
    accountsD1
      .prepare('SELECT count(*) AS n FROM license_trigrams WHERE rowid >> 31 = ?')
      .bind(number)
      .first<number>('n');
  expect(await indexed()).toBe(2);

  useFakeClock();
  const { status, body } = await requestErasure(ada);
  expect([status, Date.parse(body.erased_by) - Date.now()]).toEqual([202, 7 * DAY_MS]);
  expect((await ada.verify(license.license_key)).body.error.code).toBe('api_key_invalid');
  expect((await ada.asSession('GET', '/api/account')).body.error.code).toBe('invalid_session');
  await runErasure();
  const texts = [ada.accountId, ada.email, CUSTOMER, license.license_key, license.id, ada.apiKeyId];
  expect(await findInD1(accountsD1, texts)).toEqual(
    expect.arrayContaining(['accounts', 'api_keys', 'license_changes', 'licenses', 'payments', 'products']),
  );
  expect(await findInD1(firstD1, texts)).toEqual(expect.arrayContaining(['audit_log', 'users']));

  useFakeClock(Date.parse(body.erased_by));
  const former = () => gateIn(ada.accountId, 1);
  const gatesAndBranch = [
    former,
    () => gateIn(ada.accountId, 2),
    () => gateIn(ada.accountId, 3),
    () => branch(ada.accountId, 'oc'),
  ];
  const objects = [...gatesAndBranch, () => outbox(ada.accountId)];
  const contents = (stubs: (() => DurableObjectStub)[]) =>
    Promise.all(stubs.map(async (stub) => [...(await contentOf(stub()))]));
  expect((await contents(objects)).filter((content) => content.length === 0)).toEqual([]);
  const untilErased = await watchRestarts(...gatesAndBranch);
  await runErasure(withOutboxMethod('erase', () => Promise.reject(new Error('cut off'))));
  expect(await findInD1(accountsD1, texts)).toEqual(['accounts']);
  await untilErased();
  expect(await contents(gatesAndBranch)).toEqual(gatesAndBranch.map(() => []));
  // The gate is called again after it was erased, and copies what is left in D1.
  const untilErasedAgain = await watchRestarts(former);
  const untilOutboxErased = await watchRestarts(() => outbox(ada.accountId));
  const lateCall = withOutboxMethod('erase', async (erase) => {
    await untilErasedAgain();
    await gateIn(ada.accountId, 1).admit(presentedKey(ada), 'verify');
    return erase();
  });
  await runErasure(lateCall);
  expect(await findInD1(accountsD1, texts)).toEqual([]);
  expect(await findInD1(firstD1, texts)).toEqual([]);
  expect(await indexed()).toBe(0);
  await untilOutboxErased();
  expect(await contents(objects.slice(1))).toEqual(objects.slice(1).map(() => []));

  const late = await gateIn(ada.accountId, 1).admit(presentedKey(ada), 'verify');
  expect(late.refused).toBe('api_key_invalid');
  expect(await findInD1(accountsD1, texts)).toEqual([]);
  await runDurableObjectAlarm(gateIn(ada.accountId, 1));
  expect(await findLeftovers(ada.accountId, texts, 3)).toEqual([]);
  // An isolate may remember where the account's gate was.
  rememberEpoch(ada.accountId, { epoch: 2 });
  expect((await ada.verify(license.license_key)).body.error.code).toBe('api_key_invalid');
  rememberEpoch(bob.accountId, { epoch: 2 });
  expect((await bob.asKey('GET', '/api/v1/licenses')).status).toBe(200);
  expect((await bob.verify(kept.license_key)).body.valid).toBe(true);
});

test('signing in within seven days keeps the account', async () => {
  const { ada, license } = await sellerWithLicense();
  expect((await requestErasure(ada, { confirm: 'other@example.com' })).body.error.details).toMatchObject([
    { path: 'confirm' },
  ]);
  expect((await requestErasure(ada, { current_password: 'wrong' })).status).toBe(401);
  const { body } = await requestErasure(ada);
  const signedIn = await call('POST', '/api/login', { body: { email: ada.email, password: ada.password } });
  expect(signedIn.status).toBe(200);
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);

  useFakeClock(Date.parse(body.erased_by));
  await runErasure();
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);
});

test('an account with a session is not erased', async () => {
  const ada = await signUp();
  // As after a sign-in at the time of the request.
  await accountsD1.prepare('UPDATE accounts SET erase_at = 1 WHERE id = ?').bind(ada.accountId).run();
  await runErasure();
  expect((await ada.asSession('GET', '/api/account')).status).toBe(200);
  const row = await accountsD1
    .prepare('SELECT erase_at FROM accounts WHERE id = ?')
    .bind(ada.accountId)
    .first();
  expect(row).toEqual({ erase_at: null });
});

test('an account that is kept while a run erases another one stays, although its holder has signed out again', async () => {
  const customers = [await signUp(), await signUp()];
  const ids = JSON.stringify(customers.map(({ accountId }) => accountId));
  const are = 'IN (SELECT value FROM json_each(?))';
  await accountsD1.prepare(`UPDATE accounts SET erase_at = 1 WHERE id ${are}`).bind(ids).run();
  await firstD1.prepare(`DELETE FROM sessions WHERE account_id ${are}`).bind(ids).run();
  const restoring = withOutboxMethod('erase', async (erase) => {
    await accountsD1
      .prepare(`UPDATE accounts SET erase_at = NULL WHERE email <> '' AND id ${are}`)
      .bind(ids)
      .run();
    return erase();
  });
  await runErasure(restoring);
  const left = await firstD1.prepare(`SELECT 1 FROM users WHERE account_id ${are}`).bind(ids).all();
  expect(left.results).toHaveLength(1);

  // A payment notification that was under way adds a feed row to the erased account.
  const add = `INSERT INTO feed (account_id, kind, ref, created_at)
    SELECT id, 'account', 'late', 1 FROM accounts WHERE email = '' AND id ${are}`;
  expect((await accountsD1.prepare(add).bind(ids).run()).meta.changes).toBe(1);
  await runErasure();
  const accounts = await accountsD1.prepare(`SELECT 1 FROM accounts WHERE id ${are}`).bind(ids).all();
  expect(accounts.results).toHaveLength(1);
  expect(await findInD1(accountsD1, ['"late"'])).toEqual([]);
});
