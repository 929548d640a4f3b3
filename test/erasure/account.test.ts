import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import { rememberEpoch } from '../../src/shared/objects/address.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { call, type Customer, outcomeOf, signUp } from '../support/client.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { finishErasure, progressOf, runErasureAlarm } from '../support/erasing.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { setPlan, withoutTables } from '../support/gate.ts';
import { runHourly } from '../support/hourly.ts';
import { contentOf, findInD1, findLeftovers } from '../support/leftovers.ts';
import { mailsTo } from '../support/mails.ts';
import { gateIn, move } from '../support/moving.ts';
import { addEndpoint, outbox } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';
import { branch, openBranch, presentedKey, setHome } from '../support/regions.ts';
import { waitUntil } from '../support/wait-until.ts';
import { sellerWithLicense } from '../support/worlds.ts';

const CUSTOMER = 'erase-me@customers.example';

const logIn = ({ email, password }: Customer) => call('POST', '/api/login', { body: { email, password } });

const requestErasure = (ada: Customer, sent: object = {}) =>
  ada.asSession('DELETE', '/api/account', { current_password: ada.password, confirm: ada.email, ...sent });

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
  useFakeClock();
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

  const { status, body } = await requestErasure(ada);
  expect([status, Date.parse(body.erased_by) - Date.now()]).toEqual([202, 7 * DAY_MS]);
  expect((await ada.verify(license.license_key)).body.error.code).toBe('api_key_invalid');
  expect((await ada.asSession('GET', '/api/account')).body.error.code).toBe('invalid_session');
  await runHourly();
  await runDurableObjectAlarm(gateIn(ada.accountId, 2));
  const texts = [ada.accountId, ada.email, CUSTOMER, license.license_key, license.id, ada.apiKeyId];
  expect(await findInD1(accountsD1, texts)).toEqual(
    expect.arrayContaining(['accounts', 'api_keys', 'license_changes', 'licenses', 'payments', 'products']),
  );
  expect(await findInD1(firstD1, texts)).toEqual(expect.arrayContaining(['audit_log', 'users']));

  vi.setSystemTime(Date.parse(body.erased_by));
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
  await runHourly();
  await waitUntil(
    () => runErasureAlarm(ada.accountId, 2),
    (progress) => progress !== null && progress.clearedMs !== null,
  );
  // The account's row and what leads to its gate are left, and refuse all calls.
  expect(await findInD1(accountsD1, texts)).toEqual(['accounts']);
  expect(await findInD1(firstD1, texts)).toEqual([]);
  expect(await indexed()).toBe(0);
  expect((await contents(objects)).flat().map(([name]) => name)).toEqual(['place', 'erasure', 'place']);
  for (const epoch of [1, 2])
    expect((await gateIn(ada.accountId, epoch).admit(presentedKey(ada), 'verify')).refused).toBe(
      'api_key_invalid',
    );
  expect((await ada.verify(license.license_key)).body.error.code).toBe('api_key_invalid');
  // A payment notification that was under way adds a feed row.
  await accountsD1
    .prepare("INSERT INTO feed (account_id, kind, ref, created_at) VALUES (?, 'account', 'late', 1)")
    .bind(ada.accountId)
    .run();
  expect((await contents(gatesAndBranch)).flat().map(([name]) => name)).toEqual([
    'place',
    'erasure',
    'place',
  ]);

  await finishErasure(ada.accountId, 2);
  expect(await findInD1(accountsD1, [...texts, '"late"'])).toEqual([]);
  expect(await contents(objects)).toEqual(objects.map(() => []));
  const late = await gateIn(ada.accountId, 1).admit(presentedKey(ada), 'verify');
  expect(late.refused).toBe('api_key_invalid');
  await runDurableObjectAlarm(gateIn(ada.accountId, 1));
  expect(await findLeftovers(ada.accountId, texts, 3)).toEqual([]);
  expect(mailsTo(ada.email).map(({ subject }) => subject)).toContain('Your account has been deleted');
  // An isolate may remember where the account's gate was.
  rememberEpoch(ada.accountId, { epoch: 2 });
  expect((await ada.verify(license.license_key)).body.error.code).toBe('api_key_invalid');
  rememberEpoch(bob.accountId, { epoch: 2 });
  expect((await bob.asKey('GET', '/api/v1/licenses')).status).toBe(200);
  expect((await bob.verify(kept.license_key)).body.valid).toBe(true);
});

test('signing in within seven days keeps the account', async () => {
  useFakeClock();
  const { ada, license } = await sellerWithLicense();
  expect((await requestErasure(ada, { confirm: 'other@example.com' })).body.error.details).toMatchObject([
    { path: 'confirm' },
  ]);
  expect((await requestErasure(ada, { current_password: 'wrong' })).status).toBe(401);
  const { body } = await requestErasure(ada);
  const signedIn = await logIn(ada);
  expect(signedIn.status).toBe(200);
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);

  vi.setSystemTime(Date.parse(body.erased_by));
  await runHourly();
  await finishErasure(ada.accountId);
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);
});

test('the account’s own gate erases it at the promised time, without the hourly work', async () => {
  useFakeClock();
  const { ada } = await sellerWithLicense();
  const { body } = await requestErasure(ada);
  expect((await progressOf(ada.accountId))?.dueMs).toBe(Date.parse(body.erased_by));
  await finishErasure(ada.accountId);
  expect(Date.now() - Date.parse(body.erased_by)).toBeLessThan(10 * 60_000);
  expect(await findLeftovers(ada.accountId, [ada.accountId, ada.email])).toEqual([]);
});

test('from the commit of the request on, no session is let in, although the sessions could not be ended', async () => {
  const { ada, license } = await sellerWithLicense();
  const logged = vi.spyOn(console, 'error');
  await firstD1
    .prepare("CREATE TRIGGER stuck BEFORE DELETE ON sessions BEGIN SELECT RAISE(ABORT, 'stuck'); END")
    .run();
  const { status } = await requestErasure(ada);
  await firstD1.prepare('DROP TRIGGER stuck').run();
  expect(status).toBe(202);
  expect(logged.mock.calls.join()).toContain('erasure_not_prepared');
  for (const path of ['/api/account', '/api/v1/licenses'])
    expect(outcomeOf(await ada.asSession('GET', path))).toBe('401 invalid_session');
  const { body } = await logIn(ada);
  // Whoever signs in ends the sessions of before.
  expect(outcomeOf(await ada.asSession('GET', '/api/account'))).toBe('401 invalid_session');
  const again = { authorization: `Bearer ${body.session.token}` };
  expect((await call('GET', '/api/account', { headers: again })).status).toBe(200);
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);
});

test('a request that fails before its commit changes nothing, and can be repeated', async () => {
  const { ada, license } = await sellerWithLicense();
  const failed = await withoutTables(['feed'], () => requestErasure(ada));
  expect(failed.status).toBe(503);
  expect((await ada.asSession('GET', '/api/account')).status).toBe(200);
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);
  expect((await requestErasure(ada)).status).toBe(202);
});
