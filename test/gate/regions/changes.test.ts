import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GateBranch } from '../../../src/gate/branch/gate-branch.ts';
import type { BranchUpdate } from '../../../src/gate/rules/messages.ts';
import { grantPlan, setSuspended } from '../../../src/operators/accounts.ts';
import { HOUR_MS } from '../../../src/shared/rules/dates.ts';
import { type Customer, type Json } from '../../support/client.ts';
import { ctxOf } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { waitPatiently } from '../../support/network.ts';
import { branch, openBranch, verifyIn } from '../../support/regions.ts';
import { sellerAtHome } from '../../support/worlds.ts';
import { importAs, toLines } from '../../transfer/transfer.ts';

// Changes by other ways than the calls for a single license.

let ada: Customer;
let license: Json;

beforeEach(async () => {
  useFakeClock();
  waitPatiently();
  ({ ada, license } = await sellerAtHome('pro', { product: 'orrery' }));
  await openBranch('oc', ada, license.license_key);
  for (let i = 0; i < 2; i++) await verifyIn('oc', ada, license.license_key);
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Lets home's messages take some time, so that only an answer that waits for them comes after them. */
const delayMessages = () => {
  const original = Reflect.get(GateBranch.prototype, 'tell') as (update: BranchUpdate) => unknown;
  vi.spyOn(
    GateBranch.prototype as unknown as { tell: (update: BranchUpdate) => unknown },
    'tell',
  ).mockImplementation(async function (this: GateBranch, update) {
    await scheduler.wait(60);
    return original.call(this, update);
  });
};

const rotate = (overlap_hours: number) =>
  ada.asSession('POST', `/api/api-keys/${ada.apiKeyId}/rotate`, { overlap_hours });
const importLine = (fields: Json) =>
  importAs(ada, toLines([{ license_key: license.license_key, ...fields }]), '?on_conflict=update');

const CHANGES: [string, () => Promise<unknown>, Json][] = [
  [
    'an import that suspends the license',
    () => importLine({ status: 'suspended' }),
    { verdict: { status: 'suspended' } },
  ],
  [
    'an import with a past end',
    () => importLine({ expires_at: '2020-01-31' }),
    { verdict: { status: 'expired' } },
  ],
  [
    'an import of its product',
    () => importAs(ada, toLines([{ type: 'product', code: 'orrery', terms: { offline_days: 3 } }])),
    { verdict: { offline_days: 3 } },
  ],
  ['a rotation of the API key', () => rotate(0), { refused: 'api_key_invalid' }],
  [
    'a suspension by the operator',
    () => setSuspended(ctxOf(ada.accountId), true),
    { refused: 'account_suspended' },
  ],
  ['a plan from the operator', () => grantPlan(ctxOf(ada.accountId), 'scale', null), { apiLimit: 5_000_000 }],
];

test.each(CHANGES)('once %s is answered, a branch shows it', async (_change, make, expected) => {
  expect(await verifyIn('oc', ada, license.license_key)).toMatchObject({ region: 'oc', refused: null });
  delayMessages();
  await make();
  expect(await verifyIn('oc', ada, license.license_key)).toMatchObject(expected);
});

test('an API key ends in a branch, too, when the overlap of its rotation ends', async () => {
  const verify = async () => verifyIn('oc', ada, license.license_key);
  await rotate(1);
  for (const region of ['enam', 'oc']) expect(await verify()).toMatchObject({ region, refused: null });
  vi.advanceTimersByTime(HOUR_MS);
  expect(await verify()).toMatchObject({ refused: 'api_key_invalid' });
});

test('a branch that home tells of no account lets home answer', async () => {
  // Home has no account while it loads its copy again from the start.
  const tell = branch(ada.accountId, 'oc') as unknown as { tell: (update: object) => Promise<unknown> };
  const share = { number: 1_000, perSecond: 0.5 };
  const feed = { after: 0, through: 0, isReset: false, rows: [] };
  const told = { opening: 1, feed, grants: [], share, isRecall: false, isClosing: false };
  await tell.tell({ ...told, account: null, wantsVerified: null });
  expect(await verifyIn('oc', ada, license.license_key)).toMatchObject({ region: 'enam', refused: null });
});
