import { runDurableObjectAlarm } from 'cloudflare:test';
import { beforeEach, expect, test, vi } from 'vitest';
import { renewAfterMs } from '../../../src/gate/rules/lease.ts';
import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import { type Customer } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { gate } from '../../support/gate.ts';
import { branch, openBranch, presentedKey, verifyAtHome, verifyIn } from '../../support/regions.ts';
import { sellerAtHome } from '../../support/worlds.ts';

// How the rate limits of the plan "pro", 100 calls a second with one key, are shared by home and a branch.

const BURST = 200;

let ada: Customer;
let licenseKey: string;

/** Lets an interval between renewals pass, with so many calls a second from Oceania. */
const live = async (callsPerSecond: number) => {
  const seconds = renewAfterMs(LEASE_MS) / 1_000;
  for (let second = 0; second < seconds; second++) {
    for (let i = 0; i < callsPerSecond; i++) await verifyIn('oc', ada, licenseKey);
    vi.advanceTimersByTime(1_000);
  }
  await runDurableObjectAlarm(branch(ada.accountId, 'oc'));
};

/** Returns how many of the calls at home are refused. */
const refusedAtHome = async (callsPerSecond: number, seconds: number) => {
  let refused = 0;
  for (let i = 0; i < callsPerSecond * seconds; i++) {
    const reply = await verifyAtHome('enam', ada, licenseKey);
    if (reply.refused === 'rate_limit_exceeded') refused++;
    vi.advanceTimersByTime(1_000 / callsPerSecond);
  }
  return refused;
};

beforeEach(async () => {
  useFakeClock();
  ({ ada, licenseKey } = await sellerAtHome('pro'));
  await openBranch('oc', ada, licenseKey);
  await verifyIn('oc', ada, licenseKey);
});

test('two calls a second from afar leave callers near home more than they ask for', async () => {
  for (let interval = 0; interval < 3; interval++) await live(2);
  expect(await refusedAtHome(30, 5)).toBe(0);
});

test('a key that only calls at home has nearly its whole burst there', async () => {
  for (let interval = 0; interval < 3; interval++) await live(2);
  const { body } = await ada.asSession('POST', '/api/create-api-key', { name: 'backend' });
  const backend = presentedKey({ apiKey: body.api_key });
  const admitted = [];
  for (let i = 0; i < BURST; i++) admitted.push(await gate(ada.accountId).admit(backend, 'full'));
  const { length } = admitted.filter(({ refused }) => refused === null);
  expect(length).toBeGreaterThanOrEqual(0.75 * BURST);
});

test('calls that are refused at home get the part that a branch no longer needs, without waiting for its renewal', async () => {
  for (let interval = 0; interval < 3; interval++) await live(20);
  const first = await refusedAtHome(85, 4);
  expect(first).toBeGreaterThan(0);
  expect(await refusedAtHome(60, 3)).toBeLessThan(first / 4);
});
