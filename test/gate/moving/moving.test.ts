import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { AccountGate } from '../../../src/gate/home/account-gate.ts';
import type { Part } from '../../../src/gate/moving/place.ts';
import { readReply } from '../../../src/gate/rules/calls.ts';
import { openDisk } from '../../../src/shared/objects/disk.ts';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { newId } from '../../../src/shared/text/ids.ts';
import { openLicense } from '../../support/activations.ts';
import { signUp } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { gate, readGate, statistics } from '../../support/gate.ts';
import { arrive, gateIn, killGate, move, RETRY_MS } from '../../support/moving.ts';
import { presentedKey } from '../../support/regions.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Returns all rows of a gate's tables. */
const dump = (accountId: string, epoch: number) =>
  runInDurableObject(gateIn(accountId, epoch), (_gate, { storage }) => {
    const disk = openDisk(storage.sql);
    const rowsOf = (table: string) => storage.sql.exec(`SELECT * FROM "${table}"`).toArray();
    return Object.fromEntries(disk.tables().map((table) => [table, rowsOf(table)]));
  });

/** An account whose tables all have rows, some of them more than a page. */
const fillAccount = async () => {
  const { customer, license, on } = await openLicense({ max_activations: 1 });
  await on('activate', 1);
  await on('activate', 2);
  await runInDurableObject(gate(customer.accountId), (_gate, { storage }) => {
    storage.sql.exec(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
       INSERT INTO seat_refusals SELECT 'lic_' || i, i FROM n`,
    );
  });
  return { customer, license, on };
};

test('every row of every table moves', async () => {
  const { customer, license, on } = await fillAccount();
  const { accountId } = customer;
  await move(accountId, 'oc');
  const before = await dump(accountId, 1);
  const after = await dump(accountId, 2);
  expect(before.seat_refusals?.length).toBeGreaterThan(1_200);
  for (const table of [
    'activations',
    'seat_changes',
    'licenses',
    'keys',
    'products',
    'facts',
    'recent_counters',
  ])
    expect(before[table]).not.toEqual([]);
  expect({ ...after, facts: [] }).toEqual({ ...before, facts: [] });
  expect((await on('activate', 2)).code).toBe('no_seat');
  const { body } = await customer.asKey('GET', `/api/v1/licenses/${license.id}/activations`);
  expect(body.seats.used).toBe(1);
});

/** Kills an object of the move before or after a message of it arrives. Returns whether that has happened. */
const killAt = (
  accountId: string,
  epoch: number,
  isDue: (part: Part) => boolean,
  when: 'before' | 'after',
) => {
  const original = Reflect.get(AccountGate.prototype, 'receive');
  let isDone = false;
  const killOnce = async () => {
    if (isDone) return;
    isDone = true;
    await killGate(accountId, epoch);
  };
  const spy = vi.spyOn(
    AccountGate.prototype as unknown as Record<'receive', (part: Part) => unknown>,
    'receive',
  );
  spy.mockImplementation(async function (this: AccountGate, part) {
    if (isDue(part) && when === 'before') await killOnce();
    original.call(this, part);
    if (isDue(part) && when === 'after') await killOnce();
  });
  return () => isDone;
};

const isFirst = ({ schema }: Part) => schema !== undefined;
const isPage = ({ tables = [] }: Part) => tables.some(({ rows }) => rows.length > 400);
const isLast = ({ values }: Part) => values !== undefined;

test.each([
  ['old', 'after', 'first', 1, isFirst],
  ['old', 'before', 'page', 1, isPage],
  ['new', 'after', 'page', 2, isPage],
  ['old', 'before', 'last', 1, isLast],
  ['old', 'after', 'last', 1, isLast],
  ['new', 'before', 'last', 2, isLast],
  ['new', 'after', 'last', 2, isLast],
] as const)(
  'killing the %s object %s the %s message ends in the same state',
  async (_old, when, _nth, epoch, isDue) => {
    useFakeClock();
    const { customer, license } = await fillAccount();
    const { accountId } = customer;
    const { apiUsage } = await statistics(accountId);
    const isDone = killAt(accountId, epoch, isDue, when);
    await move(accountId, 'oc', 2, RETRY_MS);
    expect(isDone()).toBe(true);
    const { status, body } = await customer.verify(license.license_key);
    expect([status, body.api_usage]).toEqual([200, apiUsage + 1]);
    const refusals = await readGate(accountId, 'SELECT * FROM seat_refusals');
    expect(refusals.length).toBe(1_201);
  },
);

test('a kill right after the fence leaves no call unanswered', async () => {
  const { customer, license } = await fillAccount();
  const { accountId } = customer;
  const { apiUsage } = await statistics(accountId);
  const pull = vi.spyOn(AccountGate.prototype, 'pull').mockRejectedValueOnce(new Error('cut off'));
  await gate(accountId).startMove('oc');
  await waitUntil(
    () => runDurableObjectAlarm(gateIn(accountId, 1)),
    () => pull.mock.calls.length > 0,
  );
  await killGate(accountId, 1);
  const { status, body } = await customer.verify(license.license_key);
  expect([status, body.api_usage]).toEqual([200, apiUsage + 1]);
  await arrive(accountId, 2);
});

test('a second move works, and the first object forwards to the last one', async () => {
  useFakeClock();
  const ada = await signUp();
  const { accountId } = ada;
  const { license_key: licenseKey } = await ada.createLicense();
  await move(accountId, 'oc');
  await ada.verify(licenseKey);
  expect(await gate(accountId).startMove('weur')).toEqual({
    refused: 'too_soon',
    retryAfterSeconds: expect.closeTo(86_400, -2),
  });
  vi.setSystemTime(Date.now() + 2 * DAY_MS);
  await move(accountId, 'weur', 3);
  expect((await ada.asSession('GET', '/api/account')).body.home_region).toBe('weur');

  const calledBefore = vi.spyOn(AccountGate.prototype, 'verify');
  const reply = readReply(await gateIn(accountId, 1).verify(presentedKey(ada), licenseKey, 'by-old-name'));
  expect(reply).toMatchObject({ refused: null, apiUsage: 2, epoch: 3 });
  expect(calledBefore).toHaveBeenCalledTimes(2);
  expect((await ada.verify(licenseKey)).body.api_usage).toBe(3);
});

test('a session moves the account once a day, and the account shows where to', async () => {
  const ada = await signUp();
  const moveTo = async (region: string, send = ada.asSession) => {
    const { status, body } = await send('POST', '/api/home-region', { region });
    return [status, body.error?.code ?? body];
  };
  expect(await moveTo('sam')).toEqual([400, 'invalid_request']);
  expect(await moveTo('oc', ada.asKey)).toEqual([403, 'insufficient_scope']);
  const started = { home_region: null, moving_to: 'oc' };
  expect(await moveTo('oc')).toEqual([202, started]);
  await arrive(ada.accountId, 2);
  const arrived = { home_region: 'oc', moving_to: null };
  expect((await ada.asSession('GET', '/api/account')).body).toMatchObject(arrived);
  expect((await ada.asSession('GET', '/api/regions')).body).toMatchObject(arrived);
  expect(await moveTo('oc')).toEqual([202, arrived]);
  expect(await moveTo('weur')).toEqual([409, 'invalid_transition']);
  const { headers } = await ada.asSession('POST', '/api/home-region', { region: 'weur' });
  expect(Number(headers.get('retry-after'))).toBeCloseTo(86_400, -2);
});

test('while an account moves, it shows where to, and cannot move elsewhere', async () => {
  const ada = await signUp();
  vi.spyOn(AccountGate.prototype, 'receive').mockImplementation(() => {
    throw new Error('cut off');
  });
  const moveTo = (region: string) => ada.asSession('POST', '/api/home-region', { region });
  const started = { home_region: null, moving_to: 'oc' };
  expect((await moveTo('oc')).body).toEqual(started);
  expect((await moveTo('oc')).body).toEqual(started);
  expect((await ada.asSession('GET', '/api/account')).body).toMatchObject(started);
  expect(await moveTo('weur')).toMatchObject({
    status: 409,
    body: { error: { code: 'invalid_transition' } },
  });
});

test('an object takes messages in order only, and answers no call before it has everything', () =>
  runInDurableObject(gateIn(newId('acct'), 2), (object: AccountGate) => {
    const [region, schema] = ['oc', ['CREATE TABLE t (id TEXT PRIMARY KEY)']] as const;
    object.receive({ number: 2, region, schema: [...schema] });
    object.receive({ number: 2, region, schema: [...schema] });
    expect(() => {
      object.receive({ number: 1, region });
    }).toThrow('A later message has arrived already.');
    expect(() => object.keysLastUsedMs([])).toThrow('The account has not moved to this gate.');
  }));
