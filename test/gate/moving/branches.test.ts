import { runDurableObjectAlarm } from 'cloudflare:test';
import { beforeEach, expect, test, vi } from 'vitest';
import { GateBranch } from '../../../src/gate/branch/gate-branch.ts';
import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import { type Customer } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { gate, statistics } from '../../support/gate.ts';
import { arrive, gateIn, move, RETRY_MS } from '../../support/moving.ts';
import { openBranch, verifyIn } from '../../support/regions.ts';
import { sellerAtHome } from '../../support/worlds.ts';

let ada: Customer;
let license: { id: string; license_key: string };

beforeEach(async () => {
  ({ ada, license } = await sellerAtHome('scale'));
  await openBranch('oc', ada, license.license_key);
  await verifyIn('oc', ada, license.license_key);
});

const usage = async () => (await statistics(ada.accountId)).apiUsage;

test('a branch goes on answering after its home has moved, and a change reaches it', async () => {
  const before = await usage();
  let calls = 0;
  const inBranch = async () => {
    calls++;
    return verifyIn('oc', ada, license.license_key);
  };
  const answers = async () => {
    await expect.poll(inBranch).toMatchObject({ region: 'oc', refused: null, verdict: { valid: true } });
  };
  await answers();
  await move(ada.accountId, 'weur');
  // The new home may answer at first, as after a restart.
  await answers();
  expect((await ada.asSession('POST', `/api/v1/licenses/${license.id}/suspend`)).status).toBe(200);
  for (let i = 0; i < 2; i++)
    expect(await inBranch()).toMatchObject({ verdict: { valid: false, status: 'suspended' } });
  // Home learns of the last call with the next report.
  await verifyIn('oc', ada, 'UNKNOWN-KEY');
  expect(await usage()).toBe(before + calls);
});

test('a home that moves to the region of a branch closes the branch, and takes over its calls', async () => {
  const before = await usage();
  await verifyIn('oc', ada, license.license_key);
  await move(ada.accountId, 'oc');
  await expect.poll(async () => (await ada.asSession('GET', '/api/regions')).body.branches).toEqual([]);
  expect(await verifyIn('oc', ada, license.license_key)).toMatchObject({ region: 'oc', refused: null });
  expect(await usage()).toBe(before + 2);
});

test('a call that hangs delays a move, and no call is refused meanwhile', async () => {
  useFakeClock(Date.now());
  const tell = vi.spyOn(GateBranch.prototype, 'tell').mockRejectedValue(new Error('The branch is cut off.'));
  const { license_key: other } = await ada.createLicense();
  const suspended = ada.asSession('POST', `/api/v1/licenses/${license.id}/suspend`);
  await gate(ada.accountId).startMove('weur');
  // Each attempt lets calls wait for the one that hangs.
  for (let attempt = 0; attempt < 3; attempt++) {
    const verified = ada.verify(other);
    await runDurableObjectAlarm(gateIn(ada.accountId, 1));
    expect((await verified).body).toMatchObject({ valid: true });
    expect((await ada.verify(other)).body).toMatchObject({ valid: true });
    vi.advanceTimersByTime(RETRY_MS * 2 ** attempt);
  }
  expect(await gate(ada.accountId).movingTo()).toBe('weur');
  vi.advanceTimersByTime(LEASE_MS);
  expect((await suspended).status).toBe(200);
  tell.mockRestore();
  await arrive(ada.accountId, 2, { passMs: RETRY_MS });
  expect((await ada.verify(license.license_key)).body).toMatchObject({ status: 'suspended' });
});
