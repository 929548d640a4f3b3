// What tests of seats near a branch begin with.
import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { Region } from '../../src/shared/rules/regions.ts';
import { machineOf } from './activations.ts';
import type { Customer, Json } from './client.ts';
import { useFakeClock } from './fake-clock.ts';
import { waitPatiently } from './network.ts';
import { callFrom, openBranch, verifyFrom, verifyIn } from './regions.ts';
import { waitUntil } from './wait-until.ts';
import { sellerAtHome } from './worlds.ts';

export const SEATS = { max_activations: 2, self_service: true, entitlements: { export: true } };

interface World {
  /** A seller whose home is in enam. */
  ada: Customer;
  /** A license of a product with two seats. */
  license: Json;
  /** A license without terms, which keeps branches open. */
  plainKey: string;
}

/** Makes a seller of seats before each test. */
export const useSeats = () => {
  const world = {} as World;

  const path = () => `/api/v1/licenses/${world.license.id}`;
  const setTerms = (terms: Json) => world.ada.asSession('PUT', '/api/v1/products/orrery', { terms });

  beforeEach(async () => {
    useFakeClock();
    waitPatiently();
    const { ada, licenseKey } = await sellerAtHome('scale');
    Object.assign(world, { ada, plainKey: licenseKey });
    await setTerms(SEATS);
    world.license = await ada.createLicense({ product: 'orrery' });
  });

  afterEach(() => {
    vi.restoreAllMocks();
  });

  const on = (region: Region, name: Parameters<typeof callFrom>[2], n: number, sent: object = {}) => {
    const { ada, license } = world;
    const said = { license_key: license.license_key, fingerprint: machineOf(n), ...sent };
    return callFrom(region, ada, name, said);
  };

  return {
    world,
    path,
    setTerms,
    on,

    /** Opens the branch, and lets the Worker learn of it. */
    open: async (region: Region) => {
      await openBranch(region, world.ada, world.plainKey);
      await verifyFrom(region, world.ada, world.plainKey);
    },

    /** Takes a seat, and lets the branch copy it. */
    activateIn: async (region: Region, n: number): Promise<Json> => {
      const { body } = await on(region, 'activate', n);
      expect(body.code).toBe('valid');
      await on(region, 'verify', n);
      expect(await on(region, 'verify', n)).toMatchObject({ region, body: { code: 'valid' } });
      return body.activation;
    },

    /** Lets a forwarded call renew the lease of the branch in oc. */
    renewed: async () => {
      const { ada, plainKey } = world;
      await verifyIn('oc', ada, 'UNKNOWN-KEY');
      await waitUntil(
        () => verifyFrom('oc', ada, plainKey),
        ({ region }) => region === 'oc',
      );
    },
  };
};
