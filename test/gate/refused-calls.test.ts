import { runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GateBranch } from '../../src/gate/branch/gate-branch.ts';
import { PLANS } from '../../src/shared/rules/plans.ts';
import { call, outcomeOf, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, gate, setChangesToday, setUsage, withoutTables } from '../support/gate.ts';
import { openBranch, verifyIn } from '../support/regions.ts';
import { sellerAtHome } from '../support/worlds.ts';

// A call that its key refuses makes no work for others than the gate.

const ALLOWED = '192.0.2.7';
const FOREIGN = '198.51.100.1';

beforeEach(() => {
  useFakeClock();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const callWith = (apiKey: string, ip: string, path: string, body: object) =>
  call('POST', `/api/v1/licenses/${path}`, {
    body,
    headers: { 'x-api-key': apiKey, 'cf-connecting-ip': ip },
  });

test('while a gate loads its copy, a call from an address that its key doesn’t allow reads nothing from D1', async () => {
  const ada = await signUp();
  const { license_key } = await ada.createLicense();
  const { body } = await ada.asSession('POST', '/api/create-api-key', { allowed_ips: [ALLOWED] });
  await runInDurableObject(gate(ada.accountId), (_instance, { storage }) => storage.deleteAll());
  await evict(ada.accountId);
  await withoutTables(['licenses'], async () => {
    const verify = async (ip: string) =>
      outcomeOf(await callWith(body.api_key, ip, 'verify', { license_key }));
    // The gate learns of the key.
    await callWith(body.api_key, ALLOWED, 'create', {});
    expect(await verify(FOREIGN)).toBe('403 ip_not_allowed');
    expect(await verify(ALLOWED)).toBe('503 unavailable');
  });
});

test('beyond the usage limit, a call that is refused for another reason takes no calls back from branches', async () => {
  const { ada, licenseKey } = await sellerAtHome('pro');
  const { body } = await ada.asSession('POST', '/api/create-api-key', { allowed_ips: [ALLOWED] });
  await openBranch('oc', ada, licenseKey);
  for (let i = 0; i < 2; i++) await verifyIn('oc', ada, licenseKey);
  const { apiLimit, changesPerDay } = PLANS.pro;
  // The branch holds more calls than are left.
  await setUsage(ada.accountId, apiLimit - 5);
  await setChangesToday(ada.accountId, changesPerDay);
  const tell = vi.spyOn(GateBranch.prototype, 'tell');
  const recalls = () => tell.mock.calls.filter(([{ isRecall }]) => isRecall).length;
  const callFrom = async (ip: string, path: string, sent: object) =>
    outcomeOf(await callWith(body.api_key, ip, path, sent));
  const verify = { license_key: licenseKey };
  const create = { customer_email: 'grace@hopper.example' };

  expect(await callFrom(FOREIGN, 'verify', verify)).toBe('403 ip_not_allowed');
  expect(await callFrom(ALLOWED, 'create', create)).toBe('429 rate_limit_exceeded');
  expect(recalls()).toBe(0);
  expect(await callFrom(ALLOWED, 'verify', verify)).toBe('200 ok');
  expect(recalls()).toBe(1);
});
