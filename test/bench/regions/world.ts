// The service in the simulated network, and its accounts with branches.
import { setTimeout as delay } from 'node:timers/promises';
import { REGIONS, type Region } from '../../../src/shared/rules/regions.ts';
import type { ApiResponse } from '../../e2e/support/service.ts';
import type { CallerRegion } from '../../support/round-trips.ts';
import { createLicenses, openAccount } from '../accounts.ts';
import type { Bundle } from '../build.ts';
import type { ObjectCounts } from '../fixtures/network/commits.ts';
import { valueAt } from '../load/plan.ts';
import type { Licensed } from '../seed.ts';
import { migrate, openPlace, type Running, start } from '../service.ts';

export const HOME = 'enam';
/** The regions with a branch, if home opens all. */
export const FAR = REGIONS.filter((region) => region !== HOME);

const LICENSES = 20;
const KEYS = 4;
const OPENING_TIMEOUT_MS = 60_000;

interface NetworkState {
  cuts?: [CallerRegion, CallerRegion][];
  isSlow?: boolean;
}

/** Sets the network, and returns the counts of all objects by class and name. */
export const setNetwork = async (
  service: Running,
  state: NetworkState = {},
): Promise<Record<string, ObjectCounts>> => {
  const { status, body, text } = await service.put('/api/simulated-network', state);
  if (status !== 200) throw new Error(`The simulated network responded ${status}: ${text}`);
  return (body as { objects: Record<string, ObjectCounts> }).objects;
};

/** Starts the service with its feature on or off. */
export const startWorld = async (
  bundle: Bundle,
  folder: string,
  name: string,
  regions: 'on' | 'off',
): Promise<Running> => {
  const service = await start(bundle, openPlace(folder, name), false, { REGIONS: regions });
  await migrate(service.runtime);
  return service;
};

export const openLicensed = async (
  service: Running,
  email: string,
  keys = KEYS,
  licenses = LICENSES,
): Promise<Licensed> => {
  const account = await openAccount(service, email, keys, { home_region: HOME });
  return { ...account, licenses: await createLicenses(service, account, licenses) };
};

/** Verifies one of the account's licenses from a region. */
export const verifyFrom = (
  service: Running,
  region: CallerRegion,
  { apiKeys, licenses }: Licensed,
  index: number,
): Promise<ApiResponse> =>
  service.post(
    '/api/v1/licenses/verify',
    { license_key: valueAt(licenses, index % licenses.count) },
    { 'x-api-key': valueAt(apiKeys, index % apiKeys.count), 'caller-region': region },
  );

const CALL_EVERY_MS = 1_000;

/**
 * Calls from regions again and again, so that home and branches stay in memory, as with the traffic that opens branches.
 * Returns a function that ends it.
 */
export const keepCalling = (service: Running, regions: readonly CallerRegion[], account: Licensed) => {
  const ending = new AbortController();
  const call = async (region: CallerRegion) => {
    for (let index = 0; !ending.signal.aborted; index++) {
      await verifyFrom(service, region, account, index);
      await delay(CALL_EVERY_MS);
    }
  };
  const calling = Promise.all(regions.map(call));
  return async () => {
    ending.abort();
    await calling;
  };
};

export const answeredIn = ({ headers }: ApiResponse) => headers.get('latchkey-region');

/** Verifies until the region's branch has answered for every key and license. */
export const openBranch = async (service: Running, region: Region, account: Licensed): Promise<void> => {
  const startMs = performance.now();
  for (let index = 0, hits = 0; hits < account.licenses.count; index++) {
    const response = await verifyFrom(service, region, account, index);
    if (response.status !== 200) throw new Error(`A verify responded ${response.status}: ${response.text}`);
    hits = answeredIn(response) === region ? hits + 1 : 0;
    if (performance.now() - startMs > OPENING_TIMEOUT_MS)
      throw new Error(`The branch in ${region} did not open.`);
    // Calls at the pace of a region with some traffic, because a new branch gets a small grant.
    await delay(20);
  }
};
