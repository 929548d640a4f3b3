import { vi } from 'vitest';
import { AccountGate } from '../../src/gate/account-gate.ts';
import { GateBranch } from '../../src/gate/regions/gate-branch.ts';
import { type Region, REGIONS } from '../../src/shared/rules/regions.ts';

// A simulated network: calls to gates and branches take the round trips between their regions. Sources:
// where.durableobjects.live and Cloudflare's own measurements, in 2026.

const IN_REGION_MS = 15;

/** Round trips in the order of `REGIONS`, each row from the next region on. */
const ROUND_TRIPS_MS = [
  [62, 147, 151, 108, 171, 139],
  [76, 92, 146, 211, 199],
  [17, 210, 171, 265],
  [223, 158, 249],
  [68, 104],
  [93],
];

export const roundTripMs = (a: Region, b: Region): number => {
  const [i, j] = [REGIONS.indexOf(a), REGIONS.indexOf(b)].toSorted((x, y) => x - y) as [number, number];
  return ROUND_TRIPS_MS[i]?.[j - i - 1] ?? IN_REGION_MS;
};

/** Whether `method` of an object is called from one region to another, from its arguments and the object's own name. */
type Route = (object: { ctx: DurableObjectState }, args: unknown[]) => [from: Region, to: Region];

/** Delays calls between regions until the test restores its mocks. `cut` cuts a region off from the home's. */
export const simulateNetwork = (home: Region) => {
  const cut = new Set<Region>();

  const travel = async (from: Region, to: Region) => {
    await scheduler.wait(roundTripMs(from, to) / 2);
    const isCut = from !== to && (cut.has(from) || cut.has(to));
    // The platform sets this property.
    if (isCut) throw Object.assign(new Error('The network is cut.'), { durableObjectReset: true });
  };

  const delay = (prototype: object, method: string, route: Route) => {
    const original = Reflect.get(prototype, method) as (...args: unknown[]) => unknown;
    vi.spyOn(prototype as Record<string, () => unknown>, method).mockImplementation(async function (
      this: unknown,
      ...args: unknown[]
    ) {
      const [from, to] = route(this as { ctx: DurableObjectState }, args);
      await travel(from, to);
      const result = await original.apply(this, args);
      await travel(to, from);
      return result;
    });
  };

  const regionOfBranch: Route = ({ ctx }) => {
    const region = ctx.id.name?.split('@')[1] as Region;
    return [home, region];
  };
  delay(GateBranch.prototype, 'tell', regionOfBranch);
  delay(GateBranch.prototype, 'verify', (object, args) => {
    const [, region] = regionOfBranch(object, args);
    return [region, region];
  });
  for (const method of ['forward', 'renew', 'close'])
    delay(AccountGate.prototype, method, (_object, [region]) => [region as Region, home]);
  delay(AccountGate.prototype, 'verify', (_object, args) => [(args[4] as Region | null) ?? home, home]);

  return { cut };
};
