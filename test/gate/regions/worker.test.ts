import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GateBranch } from '../../../src/gate/branch/gate-branch.ts';
import { AccountGate } from '../../../src/gate/home/account-gate.ts';
import { leaseMarginMs } from '../../../src/gate/rules/lease.ts';
import { RATE_WINDOW_MS } from '../../../src/shared/rules/rate.ts';
import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import { type Customer } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { simulateNetwork, waitPatiently } from '../../support/network.ts';
import { callFrom, openBranch, verifyFrom } from '../../support/regions.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { sellerAtHome } from '../../support/worlds.ts';

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

const UNAVAILABLE = { status: 503, region: null, body: { error: { code: 'unavailable' } } };

const cutOff = (prototype: object, methods: string[]) => {
  for (const method of methods)
    vi.spyOn(prototype as Record<string, () => unknown>, method).mockImplementation(() => {
      // The platform sets this property.
      throw Object.assign(new Error('The network is cut.'), { durableObjectReset: true });
    });
};

/** Opens the branch, lets it copy the rows, and lets the Worker learn of it. */
const useBranch = async (region: 'oc' | 'weur' | 'wnam' | 'apac-ne' | 'apac-se' | 'eeur') => {
  await openBranch(region, ada, licenseKey);
  for (let i = 0; i < 2; i++) await verifyFrom(region, ada, licenseKey);
};

test('an answer names the region of the account’s home, unless regions are off', async () => {
  const valid = { status: 200, body: { valid: true } };
  expect(await verifyFrom('oc', ada, licenseKey)).toMatchObject({ ...valid, region: 'enam' });
  expect(await verifyFrom('oc', ada, licenseKey, 'off')).toMatchObject({ ...valid, region: null });
});

test('a verify near an open branch is one call to the branch, and all others are one call to home', async () => {
  await useBranch('oc');
  const calls: string[] = [];
  const record = (prototype: object, object: string, methods: string[]) => {
    for (const method of methods) {
      const original = Reflect.get(prototype, method) as (...args: unknown[]) => unknown;
      vi.spyOn(prototype as Record<string, () => unknown>, method).mockImplementation(function (
        this: unknown,
        ...args: unknown[]
      ) {
        calls.push(`${object}.${method}`);
        return original.apply(this, args);
      });
    }
  };
  record(AccountGate.prototype, 'gate', ['verify', 'application', 'forward']);
  record(GateBranch.prototype, 'branch', ['verify', 'application']);
  expect(await verifyFrom('oc', ada, licenseKey)).toMatchObject({ status: 200, region: 'oc' });
  expect(await verifyFrom('weur', ada, licenseKey)).toMatchObject({ status: 200, region: 'enam' });
  expect(await verifyFrom('oc', ada, licenseKey, 'off')).toMatchObject({ status: 200, region: null });
  expect(calls).toEqual(['branch.verify', 'gate.verify', 'gate.verify']);
  calls.length = 0;
  const sent = { license_key: licenseKey, fingerprint: 'machine-0001' };
  for (const name of ['activate', 'heartbeat', 'verify', 'verify', 'deactivate'] as const)
    expect(await callFrom('oc', ada, name, sent)).toMatchObject({ status: 200 });
  const copied = ['branch.application', 'gate.forward', 'branch.application'];
  expect(calls).toEqual(['gate.application', 'gate.application', ...copied, 'gate.application']);
});

test('a region that is cut off from home answers until its lease ends', async () => {
  await useBranch('oc');
  cutOff(AccountGate.prototype, ['forward', 'renew']);
  cutOff(GateBranch.prototype, ['tell']);
  // Since the lease began, only the time has passed in which the rates have recovered.
  vi.advanceTimersByTime(LEASE_MS - leaseMarginMs(LEASE_MS) - RATE_WINDOW_MS - 1);
  expect(await verifyFrom('oc', ada, licenseKey)).toMatchObject({ status: 200, region: 'oc' });
  vi.advanceTimersByTime(1);
  // The Worker asks home itself …
  expect(await verifyFrom('oc', ada, licenseKey)).toMatchObject({ status: 200, region: 'enam' });
  // … which may be out of its reach, too.
  cutOff(AccountGate.prototype, ['verify']);
  expect(await verifyFrom('oc', ada, licenseKey)).toMatchObject(UNAVAILABLE);
});

test('a region that is cut off answers from its branch, also after a call that needs home', async () => {
  await useBranch('oc');
  cutOff(AccountGate.prototype, ['forward', 'renew']);
  expect(await verifyFrom('oc', ada, 'UNKNOWN-KEY')).toMatchObject({ status: 200, region: 'enam' });
  expect(await verifyFrom('oc', ada, licenseKey)).toMatchObject({ status: 200, region: 'oc' });
});

test('a branch that fails is passed over for ten seconds', async () => {
  await useBranch('oc');
  const failing = vi.spyOn(GateBranch.prototype, 'verify').mockRejectedValue(new Error('The branch fails.'));
  for (let i = 0; i < 2; i++)
    expect(await verifyFrom('oc', ada, licenseKey)).toMatchObject({ status: 200, region: 'enam' });
  expect(failing).toHaveBeenCalledOnce();
  failing.mockRestore();
  vi.advanceTimersByTime(10_000);
  expect(await verifyFrom('oc', ada, licenseKey)).toMatchObject({ status: 200, region: 'oc' });
});

test('no verify that begins after a suspension, revocation or key deletion is answered is valid, from any region', async () => {
  vi.useRealTimers();
  // The seller from before has signed in at the set time.
  ({ ada, licenseKey, licenseId } = await sellerAtHome('scale'));
  const regions = ['oc', 'weur', 'wnam', 'apac-ne', 'apac-se', 'eeur'] as const;
  for (const region of regions) await useBranch(region);
  const [revoked, kept] = await Promise.all([ada.createLicense(), ada.createLicense()]);
  const key = (await ada.asSession('POST', '/api/create-api-key', {})).body;
  const changes = [
    { caller: ada, license: licenseKey, method: 'POST', path: `/api/v1/licenses/${licenseId}/suspend` },
    {
      caller: ada,
      license: revoked.license_key,
      method: 'POST',
      path: `/api/v1/licenses/${revoked.id}/revoke`,
    },
    {
      caller: { apiKey: key.api_key },
      license: kept.license_key,
      method: 'DELETE',
      path: `/api/api-keys/${key.id}`,
    },
  ];
  simulateNetwork('enam');
  const verifyUntilChanged = async ({ caller, license, method, path }: (typeof changes)[number]) => {
    let isAnswered = false;
    const lateAnswers: unknown[] = [];
    const earlyRegions = new Set<string | null>();
    const callers = [...regions, 'enam' as const].map(async (region) => {
      for (let isLate = false; !isLate;) {
        isLate = isAnswered;
        const { status, body, region: answeredIn } = await verifyFrom(region, caller, license);
        // A deleted key gets 403, and 429 beyond its rate.
        if (isLate) lateAnswers.push(body.valid ?? (status === 403 || status === 429 ? 'refused' : status));
        else if (body.valid) earlyRegions.add(answeredIn);
        // The Worker itself answers for a deleted key, so this loop would let nothing else run.
        await scheduler.wait(5);
      }
    });
    try {
      await waitUntil(
        () => earlyRegions.size,
        (count) => count === 7,
      );
      expect(await ada.asSession(method, path)).toMatchObject({ status: 200 });
    } finally {
      isAnswered = true;
    }
    await Promise.all(callers);
    return lateAnswers;
  };
  const answers = await Promise.all(changes.map(verifyUntilChanged));
  expect(answers).toEqual([false, false, 'refused'].map((answer) => Array(7).fill(answer)));
});

test('through a network with delays, a region that is cut off delays a change until its lease has ended', async () => {
  await useBranch('oc');
  await useBranch('weur');
  const { cut } = simulateNetwork('enam');
  cut.add('oc');
  const suspended = ada.asSession('POST', `/api/v1/licenses/${licenseId}/suspend`);
  // The other regions have the change as soon as it reaches them.
  await waitUntil(
    () => verifyFrom('weur', ada, licenseKey),
    ({ body }) => body.status === 'suspended',
  );
  expect(await verifyFrom('oc', ada, licenseKey)).toMatchObject({ region: 'oc', body: { status: 'active' } });
  vi.advanceTimersByTime(LEASE_MS);
  expect((await suspended).body.status).toBe('suspended');
  expect(await verifyFrom('oc', ada, licenseKey)).toMatchObject(UNAVAILABLE);
  cut.clear();
  expect(await verifyFrom('oc', ada, licenseKey)).toMatchObject({ body: { status: 'suspended' } });
});
