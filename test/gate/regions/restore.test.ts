import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AccountGate } from '../../../src/gate/home/account-gate.ts';
import { CLOSE_AFTER_MS, OPEN_WINDOW_MS, renewAfterMs } from '../../../src/gate/rules/lease.ts';
import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import { backUp, restore } from '../../support/backup.ts';
import { type Customer } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { gate, kill, readGate, statistics } from '../../support/gate.ts';
import { waitPatiently } from '../../support/network.ts';
import { branch, openBranch, verifyIn } from '../../support/regions.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { sellerAtHome } from '../../support/worlds.ts';

// A home that is restored from a backup, and its branches, which are not.

let ada: Customer;
let licenseKey: string;
let licenseId: string;

beforeEach(async () => {
  useFakeClock();
  waitPatiently();
  ({ ada, licenseKey, licenseId } = await sellerAtHome('scale'));
});

afterEach(() => {
  vi.restoreAllMocks();
});

const openOceania = async () => {
  await openBranch('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
};
const renew = async () => {
  vi.advanceTimersByTime(renewAfterMs(LEASE_MS));
  await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
};
const openBranches = () => readGate(ada.accountId, 'SELECT region FROM branches');

/** What the branch counts after a restore, and the one call that it has counted before, are all counted once. */
const expectTakenOver = async () => {
  const { apiUsage } = await statistics(ada.accountId);
  for (let i = 0; i < 10; i++) expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc' });
  await renew();
  await renew();
  expect((await statistics(ada.accountId)).apiUsage).toBe(apiUsage + 11);
  expect(await openBranches()).toEqual([]);
};

test('a change is answered once no branch can answer from before it that was opened after the backup', async () => {
  const backup = await backUp(ada.accountId);
  await openOceania();
  await restore(ada.accountId, backup);
  let isAnswered = false;
  const suspended = ada.asSession('POST', `/api/v1/licenses/${licenseId}/suspend`).then(({ status }) => {
    isAnswered = true;
    return status;
  });
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ region: 'oc', verdict: { valid: true } });
  await scheduler.wait(1_000);
  expect(isAnswered).toBe(false);
  vi.advanceTimersByTime(LEASE_MS);
  expect(await suspended).toBe(200);
  expect(await verifyIn('oc', ada, licenseKey)).toMatchObject({ verdict: { status: 'suspended' } });
});

test('what a branch has counted that was opened after the backup is taken over, once', async () => {
  const backup = await backUp(ada.accountId);
  await openOceania();
  await restore(ada.accountId, backup);
  await expectTakenOver();
});

test('what a branch has counted that was opened after a restore is taken over after a second one of the same backup', async () => {
  const backup = await backUp(ada.accountId);
  await restore(ada.accountId, backup);
  vi.advanceTimersByTime(LEASE_MS);
  await openOceania();
  await restore(ada.accountId, backup);
  await expectTakenOver();
});

test('a branch that was opened after the backup is taken over once, also if home restarts and hears of it again', async () => {
  const backup = await backUp(ada.accountId);
  await openOceania();
  await restore(ada.accountId, backup);
  const { apiUsage } = await statistics(ada.accountId);
  const close = vi.spyOn(AccountGate.prototype, 'close').mockImplementationOnce(() => {
    throw new Error('cut off');
  });
  await renew();
  expect(await openBranches()).toHaveLength(1);
  await kill(ada.accountId);
  await renew();
  expect(await openBranches()).toEqual([]);
  await kill(ada.accountId);
  const [last] = close.mock.calls;
  await gate(ada.accountId).close(...(last as Parameters<AccountGate['close']>));
  expect((await statistics(ada.accountId)).apiUsage).toBe(apiUsage + 1);
});

test.for([false, true])(
  'a branch that is in the backup closes (it has closed since: %s)',
  async (hasClosed) => {
    await openOceania();
    const backup = await backUp(ada.accountId);
    const { apiUsage } = await statistics(ada.accountId);
    if (hasClosed) {
      vi.advanceTimersByTime(CLOSE_AFTER_MS);
      await renew();
    }
    await restore(ada.accountId, backup);
    vi.advanceTimersByTime(LEASE_MS);
    await waitUntil(openBranches, ({ length }) => length === 0);
    // The branch had counted one call. If it can't tell any more, what it was granted counts.
    expect((await statistics(ada.accountId)).apiUsage - apiUsage).toBe(hasClosed ? 20 : 1);
    vi.advanceTimersByTime(OPEN_WINDOW_MS);
    await openOceania();
  },
);
