import { runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { databaseOf } from '../../src/db/client.ts';
import { accounts } from '../../src/db/schema.ts';
import { type Customer, type Json, outcomeOf, signUp } from '../support/client.ts';
import { runMove, startMove } from '../support/database-move.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { CUSTOMER, furnishAccount, furnishUser, OWNER, SHOP } from '../support/furnished.ts';
import { gate, kill } from '../support/gate.ts';
import { findInD1 } from '../support/leftovers.ts';
import { withOperatorToken } from '../support/operator.ts';
import { readEvents } from '../support/outbox.ts';
import { sellerWithLicense, sellerWithWebhook } from '../support/worlds.ts';

beforeEach(() => {
  onTestFinished(withOperatorToken());
  useFakeClock();
});

/** What the seller sees of the account. */
const viewOf = async (ada: Customer): Promise<Json> => {
  const view: Json = {};
  for (const path of [
    '/api/v1/licenses?limit=100',
    '/api/v1/licenses?q=yolanda',
    '/api/v1/licenses?status=active&sort=-expires_at',
    '/api/v1/products',
    '/api/v1/customers',
    '/api/api-keys',
    '/api/webhooks',
    '/api/stores',
    '/api/purchases',
    '/api/portal',
  ])
    view[path] = (await ada.asSession('GET', path)).body;
  const { body } = await ada.asSession('GET', '/api/dashboard');
  view['dashboard'] = { licenses: body.licenses, api_keys: body.api_keys };
  view['audit'] = (await ada.asSession('GET', '/api/audit-log?limit=100')).body.data;
  return view;
};

const bytesOf = async (d1: D1Database, accountId: string) =>
  d1
    .prepare(
      `SELECT license_totals.bytes AS counted, stored_bytes.bytes AS stored FROM license_totals
       JOIN stored_bytes USING (account_id) WHERE account_id = ?`,
    )
    .bind(accountId)
    .first<{ counted: number; stored: number }>();

test('an account moves to the other database with everything that it has there, and back', async () => {
  const ada = await signUp();
  const license = await furnishAccount(ada);
  await furnishUser(ada);
  const neighbor = await sellerWithLicense();
  await accountsD1.prepare('DELETE FROM erasures WHERE account_id = ?').bind(ada.accountId).run();
  const verdict = async () => (await ada.verify(license.license_key)).body.code;
  const code = await verdict();
  const texts = [ada.accountId, OWNER, SHOP, CUSTOMER, license.license_key as string];
  const before = await viewOf(ada);
  const tables = await findInD1(accountsD1, texts);
  const neighbors = await findInD1(accountsD1, [neighbor.ada.accountId]);

  expect(outcomeOf(await startMove(ada.accountId, 'DB'))).toBe('202 ok');
  expect(await runMove(ada.accountId)).toMatchObject({
    database: 'DB',
    move: null,
    last_move: { from: 'DB2', to: 'DB', problem: null },
  });
  // This row refuses writes of whoever still takes the database for the account's.
  expect(await findInD1(accountsD1, texts)).toEqual(['moved_accounts']);
  const there = await findInD1(firstD1, texts);
  expect(tables.filter((table) => !there.includes(table))).toEqual([]);
  expect(await findInD1(accountsD1, [neighbor.ada.accountId])).toEqual(neighbors);
  const after = await viewOf(ada);
  expect(after['audit'].shift()).toMatchObject({
    action: 'account.move_database',
    actor: { kind: 'operator' },
    details: { from: 'DB2', to: 'DB' },
  });
  expect(after).toEqual(before);
  const bytes = await bytesOf(firstD1, ada.accountId);
  expect(bytes?.counted).toBe(bytes?.stored);
  expect(await verdict()).toBe(code);
  const created = await ada.createLicense({ customer_name: 'New' });
  expect((await ada.verify(created.license_key)).body.valid).toBe(true);

  expect(outcomeOf(await startMove(ada.accountId, 'DB2'))).toBe('202 ok');
  expect(await runMove(ada.accountId)).toMatchObject({ database: 'DB2', last_move: { problem: null } });
  expect((await ada.verify(created.license_key)).body.valid).toBe(true);
  const list = '/api/v1/licenses?limit=100';
  const [newest, ...others] = (await viewOf(ada))[list].data;
  expect([newest.id, others]).toEqual([created.id, before[list].data]);
  expect(await findInD1(firstD1, [license.license_key as string])).toEqual([]);
  const back = await bytesOf(accountsD1, ada.accountId);
  expect(back?.counted).toBe(back?.stored);
});

const STEPS = ['closing', 'draining', 'copying', 'comparing', 'switching', 'waiting', 'opening', 'cleaning'];

test('a move loses no call, no change, and no event, however often the gate is killed', async () => {
  const { ada, endpoint } = await sellerWithWebhook({ events: ['license.verified', 'license.created'] });
  const license = await ada.createLicense();
  let verifies = 0;
  const refused: string[] = [];
  const created = new Set<string>();
  const create = async (key: string) => {
    const answer = await ada.asKey('POST', '/api/v1/licenses/create', {}, { 'idempotency-key': key });
    if (answer.status === 201) created.add(answer.body.id);
    return answer;
  };
  expect(outcomeOf(await startMove(ada.accountId, 'DB'))).toBe('202 ok');
  for (const step of STEPS) {
    await runMove(ada.accountId, step);
    for (let i = 0; i < 2; i++) {
      expect((await ada.verify(license.license_key)).body.valid).toBe(true);
      verifies++;
    }
    expect((await ada.asKey('GET', `/api/v1/licenses/${license.id}`)).status).toBe(200);
    const answer = await create(step);
    if (answer.status === 201) continue;
    expect([outcomeOf(answer), answer.headers.get('retry-after')]).toEqual(['503 unavailable', '10']);
    expect(answer.body.error.message).toBe(
      'The account is moving to another database. Try again in a few seconds.',
    );
    refused.push(step);
    await kill(ada.accountId);
  }
  expect(refused).toEqual(STEPS.slice(1, -1));
  expect(await runMove(ada.accountId)).toMatchObject({ database: 'DB', last_move: { problem: null } });
  for (const step of [...refused, ...STEPS]) expect((await create(step)).status).toBe(201);
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);
  verifies++;

  const ids = new Set([license.id, ...created]);
  expect(ids.size).toBe(STEPS.length + 1);
  const listed = await ada.asKey('GET', '/api/v1/licenses?limit=100');
  expect(new Set(listed.body.data.map(({ id }: Json) => id))).toEqual(ids);
  const { body } = await ada.asSession('GET', '/api/dashboard');
  expect([body.licenses.total, body.usage.api_usage]).toEqual([ids.size, verifies + created.size]);
  await gate(ada.accountId).pull();
  const events = async () => {
    await runDurableObjectAlarm(gate(ada.accountId));
    return (await readEvents(ada.accountId)).map(({ name }) => name).toSorted();
  };
  const expected = [
    ...Array<string>(ids.size).fill('license.created'),
    ...Array<string>(verifies).fill('license.verified'),
  ];
  await expect.poll(events).toEqual(expected);
  expect(endpoint.id).toBeTypeOf('string');
});

test('what a change has read in the old database is not applied once the account is in the new one', async () => {
  const { ada, license } = await sellerWithLicense();
  await ada.asKey('POST', `/api/v1/licenses/${license.id}/suspend`);
  const announced = await gate(ada.accountId).announce(license.id, null, 'late');
  await ada.asKey('POST', `/api/v1/licenses/${license.id}/reinstate`);
  // The feed of the other database has come further.
  await firstD1.exec(
    "INSERT INTO feed (seq, account_id, kind, ref, created_at) VALUES (5000, 'acct_other', 'account', 'x', 1)",
  );
  await startMove(ada.accountId, 'DB');
  await runMove(ada.accountId);
  if (announced.refused !== null) throw new Error('The change was refused.');
  const late = { ...announced.position, appliedSeq: 1_000_000, appliedAt: 1 };
  const row = {
    id: license.id as string,
    licenseKey: license.license_key as string,
    status: 'suspended',
    expiresAt: null,
    customerEmail: ada.email,
    product: null,
    terms: {},
    updatesUntil: null,
  } as const;
  await gate(ada.accountId).apply('late', {
    continues: true,
    after: announced.position.appliedSeq,
    position: late,
    rows: {
      account: undefined,
      keys: [],
      licenses: [row],
      products: [],
      erasedKeys: [],
      deletedLicenses: [],
    },
    events: [],
    more: false,
  });
  expect((await ada.verify(license.license_key)).body.valid).toBe(true);
  const created = await ada.createLicense();
  expect((await ada.verify(created.license_key)).body.valid).toBe(true);
});

test('an isolate that still takes the old database for the account’s writes nothing there', async () => {
  const { ada } = await sellerWithLicense();
  const startMs = Date.now();
  const late = { ...env, DATABASES: `${env.DATABASES} ` };
  const db = databaseOf(late, ada.accountId);
  const write = () => db.update(accounts).set({ name: 'Late' }).where(eq(accounts.id, ada.accountId));
  await write();
  await startMove(ada.accountId, 'DB');
  await runMove(ada.accountId);

  const endMs = Date.now();
  // Its clock stands still, so it takes what it has read of the map for new.
  vi.setSystemTime(startMs);
  await expect(write()).rejects.toThrow('Failed query');
  await expect(db.batch([write()])).rejects.toThrow('moved_accounts.id');
  vi.setSystemTime(endMs);
  expect(await findInD1(accountsD1, [ada.accountId])).toEqual(['moved_accounts']);
  await write();
  expect((await firstD1.prepare("SELECT id FROM accounts WHERE name = 'Late'").first())?.['id']).toBe(
    ada.accountId,
  );
});
