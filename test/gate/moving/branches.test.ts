import { beforeEach, expect, test, vi } from 'vitest';
import { type Customer, signUp } from '../../support/client.ts';
import { setPlan, statistics } from '../../support/gate.ts';
import { move } from '../../support/moving.ts';
import { openBranch, setHome, verifyIn } from '../../support/regions.ts';

let ada: Customer;
let license: { id: string; license_key: string };

beforeEach(async () => {
  ada = await signUp();
  await setPlan(ada.accountId, 'scale');
  await setHome(ada.accountId, 'enam');
  license = await ada.createLicense();
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
  const answers = () =>
    vi.waitFor(
      async () => {
        expect(await inBranch()).toMatchObject({ region: 'oc', refused: null, verdict: { valid: true } });
      },
      { timeout: 10_000 },
    );
  await answers();
  await move(ada.accountId, 'weur');
  // The new home may answer at first, as after a restart.
  await answers();
  expect((await ada.asSession('POST', `/api/v1/licenses/${license.id}/suspend`)).status).toBe(200);
  for (let i = 0; i < 2; i++)
    expect(await inBranch()).toMatchObject({ verdict: { valid: false, status: 'suspended' } });
  // Home learns of the last call with the next report.
  await verifyIn('oc', ada, 'UNKNOWN-KEY');
  expect(await usage()).toBe(before + calls + 1);
});

test('a home that moves to the region of a branch closes the branch, and takes over its calls', async () => {
  const before = await usage();
  await verifyIn('oc', ada, license.license_key);
  await move(ada.accountId, 'oc');
  await vi.waitFor(async () => {
    expect((await ada.asSession('GET', '/api/regions')).body.branches).toEqual([]);
  });
  expect(await verifyIn('oc', ada, license.license_key)).toMatchObject({ region: 'oc', refused: null });
  expect(await usage()).toBe(before + 2);
});
