import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { AccountGate } from '../../../src/gate/home/account-gate.ts';
import type { Part } from '../../../src/gate/moving/place.ts';
import { readReply } from '../../../src/gate/rules/calls.ts';
import { DAY_MS, HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { type Customer, signUp } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { gate } from '../../support/gate.ts';
import { arrive, gateIn, move, RETRY_MS, tablesOf } from '../../support/moving.ts';
import { presentedKey, setHome } from '../../support/regions.ts';
import { watchRestarts } from '../../support/restarts.ts';
import { waitUntil } from '../../support/wait-until.ts';

// Moves that fail or take long, and what is left after one.

afterEach(() => {
  vi.restoreAllMocks();
});

type Receive = (part: Part) => unknown;
const spyOnReceive = () =>
  vi.spyOn(AccountGate.prototype as unknown as Record<'receive', Receive>, 'receive');

const CUT_OFF = new Error('The region is cut off.');

const moveTo = async ({ asSession }: Customer, region: string) => {
  const { status, body } = await asSession('POST', '/api/home-region', { region });
  return [status, body.error?.code ?? body];
};

const runAlarm = (accountId: string, epoch: number) => runDurableObjectAlarm(gateIn(accountId, epoch));

/** Holds an object's alarms back until the returned function is called, so that it doesn't go on by itself. */
const holdAlarms = (accountId: string, epoch: number) => {
  const held = gateIn(accountId, epoch).id;
  const original = Reflect.get(AccountGate.prototype, 'alarm');
  const alarm = vi.spyOn(AccountGate.prototype, 'alarm').mockImplementation(async function (
    this: AccountGate,
  ) {
    const { id, storage } = (this as unknown as { ctx: DurableObjectState }).ctx;
    if (!id.equals(held)) return original.call(this);
    await storage.setAlarm(Date.now() + HOUR_MS);
  });
  return () => alarm.mockRestore();
};

/** Starts a move to a region that is cut off after the first message. `goOn` runs the next alarm. */
const startCutOffMove = async ({ accountId }: Customer) => {
  let isCutOff = false;
  const original = Reflect.get(AccountGate.prototype, 'receive');
  const receive = spyOnReceive().mockImplementation(function (this: AccountGate, part) {
    if (isCutOff) throw CUT_OFF;
    isCutOff = true;
    return original.call(this, part);
  });
  await gate(accountId).startMove('oc');
  const goOn = async () => {
    await runAlarm(accountId, 1);
    return gate(accountId).movingTo();
  };
  const attempts = () => receive.mock.calls.length;
  await waitUntil(goOn, () => attempts() > 1);
  return { goOn, attempts, reconnect: () => receive.mockRestore() };
};

test('a move that doesn’t get on for an hour is given up, and the account can move elsewhere', async () => {
  useFakeClock();
  const ada = await signUp();
  const { accountId } = ada;
  await setHome(accountId, 'enam');
  const { license_key: licenseKey } = await ada.createLicense();
  const { goOn, attempts, reconnect } = await startCutOffMove(ada);
  // An alarm that comes for other work doesn't repeat the step.
  await goOn();
  expect(attempts()).toBe(2);
  vi.advanceTimersByTime(HOUR_MS - 1);
  expect(await goOn()).toBe('oc');
  expect(attempts()).toBe(3);
  vi.advanceTimersByTime(2 * RETRY_MS);
  await waitUntil(goOn, (movingTo) => movingTo === null);
  expect((await ada.asSession('GET', '/api/account')).body).toMatchObject({
    home_region: 'enam',
    moving_to: null,
  });
  expect((await ada.verify(licenseKey)).body).toMatchObject({ valid: true, api_usage: 1 });
  expect(await tablesOf(accountId, 1)).not.toContain('moving_log');

  // The object in the region that was cut off stays there, so this move needs another one.
  reconnect();
  expect(await moveTo(ada, 'weur')).toEqual([202, { home_region: 'enam', moving_to: 'weur' }]);
  await arrive(accountId, 3, { from: 1 });
  const reply = readReply(await gateIn(accountId, 1).verify(presentedKey(ada), licenseKey, 'a-call'));
  expect(reply).toMatchObject({ refused: null, apiUsage: 2, epoch: 3 });
  expect((await ada.asSession('GET', '/api/account')).body.home_region).toBe('weur');

  // The rows of the move that was given up don't stay either.
  expect(await tablesOf(accountId, 2)).toContain('activations');
  vi.advanceTimersByTime(DAY_MS);
  await runAlarm(accountId, 2);
  expect(await tablesOf(accountId, 2)).toEqual([]);
});

test('a day after a move, the object with all rows deletes them only if it isn’t the home', async () => {
  useFakeClock();
  const ada = await signUp();
  const { accountId } = ada;
  const { license_key: licenseKey } = await ada.createLicense();
  await ada.verify(licenseKey);
  const original = Reflect.get(AccountGate.prototype, 'receive');
  const receive = spyOnReceive().mockImplementation(function (this: AccountGate, part) {
    original.call(this, part);
    if (part.values) throw CUT_OFF;
  });
  await gate(accountId).startMove('oc');
  await arrive(accountId, 2, { passMs: HOUR_MS / 6 });
  expect(await tablesOf(accountId, 2)).toContain('activations');
  vi.advanceTimersByTime(DAY_MS);
  await runAlarm(accountId, 2);
  expect(await tablesOf(accountId, 2)).toEqual([]);

  receive.mockRestore();
  const pull = vi.spyOn(AccountGate.prototype, 'pull').mockRejectedValue(CUT_OFF);
  await gate(accountId).startMove('oc');
  await waitUntil(
    () => runAlarm(accountId, 1),
    () => pull.mock.calls.length > 0,
  );
  vi.advanceTimersByTime(DAY_MS);
  await runAlarm(accountId, 3);
  pull.mockRestore();
  const reply = readReply(await gateIn(accountId, 1).verify(presentedKey(ada), licenseKey, 'a-call'));
  expect(reply).toMatchObject({ refused: null, apiUsage: 2, epoch: 3 });
});

test('an account is also erased where a move that was given up has brought it', async () => {
  useFakeClock();
  const ada = await signUp();
  const { goOn } = await startCutOffMove(ada);
  vi.advanceTimersByTime(HOUR_MS);
  await waitUntil(goOn, (movingTo) => movingTo === null);
  expect(await tablesOf(ada.accountId, 2)).toContain('activations');
  const untilErased = await watchRestarts(() => gateIn(ada.accountId, 2));
  await gateIn(ada.accountId, 1).erase();
  await untilErased();
  expect(await tablesOf(ada.accountId, 2)).toEqual([]);
});

test('the former home deletes its rows a day after the move, and goes on forwarding calls', async () => {
  useFakeClock();
  const ada = await signUp();
  const { accountId } = ada;
  const { license_key: licenseKey } = await ada.createLicense();
  await move(accountId, 'oc');
  const callFormer = async (callId: string) =>
    readReply(await gateIn(accountId, 1).verify(presentedKey(ada), licenseKey, callId));
  vi.advanceTimersByTime(DAY_MS - 1_000);
  await runAlarm(accountId, 1);
  expect(await tablesOf(accountId, 1)).toContain('licenses');
  vi.advanceTimersByTime(1_000);
  await runAlarm(accountId, 1);
  expect(await tablesOf(accountId, 1)).toEqual([]);
  const values = await runInDurableObject(gateIn(accountId, 1), (_gate, { storage }) =>
    [...storage.kv.list()].map(([name]) => name),
  );
  expect(values.toSorted()).toEqual(['name', 'place']);
  expect(await callFormer('a day later')).toMatchObject({ refused: null, apiUsage: 1, epoch: 2 });
});

test('a repeated request is answered like the first one until the move is over', async () => {
  const ada = await signUp();
  const { accountId } = ada;
  await setHome(accountId, 'enam');
  const started = [202, { home_region: 'enam', moving_to: 'oc' }];
  const release = holdAlarms(accountId, 2);
  for (let i = 0; i < 2; i++) expect(await moveTo(ada, 'oc')).toEqual(started);
  // The new home answers, and D1 doesn't know it yet.
  const pull = vi.spyOn(AccountGate.prototype, 'pull');
  await waitUntil(
    () => runAlarm(accountId, 1),
    () => pull.mock.calls.length > 0,
  );
  expect(await gate(accountId).movingTo()).toBe('oc');
  expect(await moveTo(ada, 'oc')).toEqual(started);
  expect(await moveTo(ada, 'enam')).toEqual([409, 'invalid_transition']);
  release();
  await arrive(accountId, 2);
  expect(await moveTo(ada, 'oc')).toEqual([202, { home_region: 'oc', moving_to: null }]);
  const { body } = await ada.asSession('GET', '/api/audit-log?action=account.move');
  expect(body.data).toMatchObject([{ target: 'oc' }]);
});

test('of parallel requests for two regions, one moves the account', async () => {
  const ada = await signUp();
  const answers = await Promise.all([moveTo(ada, 'oc'), moveTo(ada, 'weur'), moveTo(ada, 'oc')]);
  const { body } = await ada.asSession('GET', '/api/account');
  const started = [202, { home_region: null, moving_to: body.moving_to }];
  const expected = answers.map(([status]) => (status === 202 ? started : [409, 'invalid_transition']));
  expect(answers).toEqual(expected);
  expect(new Set(answers.map(([status]) => status))).toEqual(new Set([202, 409]));
});

test.each(['durableObjectReset', 'retryable', 'overloaded'])(
  'an outage of the new home (%s) is unavailable to callers who ask the former one',
  async (property) => {
    const ada = await signUp();
    await move(ada.accountId, 'oc');
    const original = Reflect.get(AccountGate.prototype, 'verify');
    const verify = vi.spyOn(AccountGate.prototype, 'verify').mockImplementation(function (
      this: AccountGate,
      ...args
    ) {
      const { name } = (this as unknown as { ctx: DurableObjectState }).ctx.id;
      if (name?.endsWith('~2')) throw Object.assign(new Error('The gate restarts.'), { [property]: true });
      return original.apply(this, args);
    });
    const { status, body } = await ada.verify('ANY-LICENSE');
    expect([status, body.error.code]).toEqual([503, 'unavailable']);
    expect(verify.mock.calls.length).toBeGreaterThan(1);
  },
);

test('a restore that was cut off before the move doesn’t stop it', async () => {
  const ada = await signUp();
  const restore = gate(ada.accountId) as unknown as { backup: (call: object) => Promise<object> };
  const { page } = (await restore.backup({ kind: 'read', cursor: null })) as { page: { steps: number } };
  expect(await restore.backup({ kind: 'begin', id: 'a', steps: page.steps, replaces: true })).toEqual({});
  await move(ada.accountId, 'oc');
  expect((await tablesOf(ada.accountId, 2)).filter((name) => name.startsWith('restored_'))).toEqual([]);
});
