import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AccountGate } from '../../../src/gate/account-gate.ts';
import { GateBranch } from '../../../src/gate/regions/gate-branch.ts';
import { LEASE_MS } from '../../../src/gate/regions/lease.ts';
import { CLOSE_AFTER_MS } from '../../../src/gate/regions/opening.ts';
import { type Customer, signUp } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { setPlan, setUsage, statistics } from '../../support/gate.ts';
import { branch, openBranch, setHome, verifyAtHome, verifyIn } from '../../support/regions.ts';

// What home and a branch do after one of them has missed something.

let ada: Customer;
let licenseKey: string;
let licenseId: string;

beforeEach(async () => {
  useFakeClock();
  ada = await signUp();
  await setPlan(ada.accountId, 'scale');
  await setHome(ada.accountId, 'enam');
  ({ license_key: licenseKey, id: licenseId } = await ada.createLicense());
  await openBranch('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const suspend = () => ada.asSession('POST', `/api/v1/licenses/${licenseId}/suspend`);

const readBranch = <T extends Record<string, SqlStorageValue>>(query: string) =>
  runInDurableObject(branch(ada.accountId, 'oc'), (_instance, { storage }) =>
    storage.sql.exec<T>(query).toArray(),
  );

test('a branch doesn’t keep a row that home sent before the branch was closed and opened again', async () => {
  const { license_key: otherKey, id } = await ada.createLicense();
  const original = Reflect.get(AccountGate.prototype, 'forward');
  vi.spyOn(AccountGate.prototype, 'forward').mockImplementationOnce(async function (
    this: AccountGate,
    ...args
  ) {
    const answer = await original.apply(this, args);
    vi.advanceTimersByTime(CLOSE_AFTER_MS);
    await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
    await ada.asSession('POST', `/api/v1/licenses/${id}/suspend`);
    await openBranch('oc', ada, licenseKey);
    return answer;
  });
  await verifyIn('oc', ada, otherKey);
  expect(await verifyIn('oc', ada, otherKey)).toMatchObject({ verdict: { status: 'suspended' } });
});

test('calls with unknown license keys write no rows in the branch', async () => {
  const copies = () => readBranch('SELECT kind, ref, as_of FROM copies ORDER BY kind');
  const before = await copies();
  await suspend();
  await ada.asSession('POST', `/api/v1/licenses/${licenseId}/reinstate`);
  await verifyIn('oc', ada, 'UNKNOWN-KEY');
  expect(await copies()).toEqual(before.filter(({ kind }) => kind === 'key'));
});

test('a refused call doesn’t wait for a branch that was cut off for longer than its lease', async () => {
  const tell = vi
    .spyOn(GateBranch.prototype, 'tell')
    .mockImplementation(() => scheduler.wait(3_000) as never);
  const { apiLimit } = await statistics(ada.accountId);
  await setUsage(ada.accountId, apiLimit);
  // The restarted home takes the branch for leased.
  await statistics(ada.accountId);
  vi.advanceTimersByTime(LEASE_MS);
  const refused = verifyAtHome('enam', ada, licenseKey);
  const tooLate = scheduler.wait(1_000).then(() => 'too late');
  expect(await Promise.race([refused, tooLate])).toMatchObject({ refused: 'usage_limit_exceeded' });
  // The branch is asked for its calls all the same.
  await vi.waitFor(() => {
    expect(tell).toHaveBeenCalledWith(expect.objectContaining({ isRecall: true }));
  });
});
