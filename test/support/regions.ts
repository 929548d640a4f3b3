import { createExecutionContext, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { vi } from 'vitest';
import { parseApiKey } from '../../src/api-keys/api-key.ts';
import { accounts } from '../../src/db/schema.ts';
import { readReply } from '../../src/gate/rules/calls.ts';
import { commit } from '../../src/gate/worker/commit.ts';
import worker from '../../src/index.ts';
import { branchOf } from '../../src/shared/objects/address.ts';
import type { PresentedKey } from '../../src/shared/rules/api-keys.ts';
import { RATE_WINDOW_MS } from '../../src/shared/rules/rate.ts';
import { OPEN_AFTER_CALLS, type Region } from '../../src/shared/rules/regions.ts';
import type { CallName } from '../../src/shared/rules/verdict.ts';
import { type Customer, type Json, ORIGIN } from './client.ts';
import { ctxOf } from './databases.ts';
import { gate } from './gate.ts';
import { COLOS } from './round-trips.ts';
import { waitUntil } from './wait-until.ts';

/** Sets the region of the account's home, as registration does. */
export const setHome = async (accountId: string, homeRegion: Region) => {
  const ctx = ctxOf(accountId);
  await commit(
    ctx,
    [ctx.db.update(accounts).set({ homeRegion }).where(eq(accounts.id, accountId))],
    [{ kind: 'account', ref: accountId }],
  );
};

export const branch = (accountId: string, region: Region) => branchOf(env, accountId, region);

/** Kills a branch, see `kill`. */
export const killBranch = (accountId: string, region: Region) =>
  runInDurableObject(branch(accountId, region), (_instance, state) => state.abort('killed by a test')).catch(
    () => {},
  );

let callCount = 0;

export const presentedKey = ({ apiKey }: Pick<Customer, 'apiKey'>) =>
  parseApiKey([env.API_KEY_SECRET], apiKey) as PresentedKey;

/** Verifies a license by a call to the branch, as a Worker in the region does. */
export const verifyIn = async (
  region: Region,
  ada: Pick<Customer, 'apiKey' | 'accountId'>,
  licenseKey: string,
  callId = `branch-call-${callCount++}`,
) => readReply(await branch(ada.accountId, region).verify(presentedKey(ada), licenseKey, callId, true));

/** Verifies a license by a call to the home, from a region. */
export const verifyAtHome = async (
  region: Region,
  ada: Pick<Customer, 'apiKey' | 'accountId'>,
  licenseKey: string,
) => {
  const callId = `home-call-${callCount++}`;
  return readReply(await gate(ada.accountId).verify(presentedKey(ada), licenseKey, callId, true, region));
};

/** Makes enough calls from a region to open its branch. Returns once the branch has a lease, and its rates have recovered. */
export const openBranch = async (
  region: Region,
  ada: Pick<Customer, 'apiKey' | 'accountId'>,
  licenseKey: string,
) => {
  const calls = Array.from({ length: OPEN_AFTER_CALLS }, () => verifyAtHome(region, ada, licenseKey));
  await Promise.all(calls);
  await waitUntil(
    async () => {
      const reply = await verifyAtHome(region, ada, licenseKey);
      // These calls may have spent the rate of the account's plan.
      if (vi.isFakeTimers() && reply.refused === 'rate_limit_exceeded') vi.advanceTimersByTime(50);
      return reply;
    },
    (reply) => reply.branch === region,
  );
  // A branch's share of the rate limits was home's until now, so it starts empty.
  if (vi.isFakeTimers()) vi.advanceTimersByTime(RATE_WINDOW_MS);
};

/** Makes one of an application's calls from a region, while regions are on or off. */
export const callFrom = async (
  region: Region,
  { apiKey }: Pick<Customer, 'apiKey'>,
  call: CallName,
  sent: object,
  regions: 'on' | 'off' = 'on',
) => {
  const request = new Request(`${ORIGIN}/api/v1/licenses/${call}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: JSON.stringify(sent),
    cf: { colo: COLOS[region] } as CfProperties,
  });
  const response = await worker.fetch(request, { ...env, REGIONS: regions }, createExecutionContext());
  const body: Json = await response.json();
  return { status: response.status, region: response.headers.get('latchkey-region'), body };
};

/** Verifies a license from a region, while regions are on or off. */
export const verifyFrom = (
  region: Region,
  customer: Pick<Customer, 'apiKey'>,
  licenseKey: string,
  regions: 'on' | 'off' = 'on',
) => callFrom(region, customer, 'verify', { license_key: licenseKey }, regions);
