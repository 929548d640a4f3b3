import { vi } from 'vitest';
import { GateBranch } from '../../src/gate/branch/gate-branch.ts';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import type { Region } from '../../src/shared/rules/regions.ts';
import { roundTripMs } from './round-trips.ts';

// A simulated network: calls to gates and branches take the round trips between their regions.

const PATIENCE = 20;

/** Multiplies the time for which objects wait for each other, so that a busy machine looks like no fault of the network. */
export const waitPatiently = () => {
  const wait = scheduler.wait.bind(scheduler);
  // Only a wait for an answer is one that an answer aborts.
  vi.spyOn(scheduler, 'wait').mockImplementation((ms, options) =>
    wait(options?.signal ? ms * PATIENCE : ms, options),
  );
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
  for (const method of ['verify', 'application'])
    delay(GateBranch.prototype, method, (object, args) => {
      const [, region] = regionOfBranch(object, args);
      return [region, region];
    });
  for (const method of ['forward', 'renew', 'close'])
    delay(AccountGate.prototype, method, (_object, [region]) => [region as Region, home]);
  for (const method of ['verify', 'application'])
    delay(AccountGate.prototype, method, (_object, args) => [(args[4] as Region | null) ?? home, home]);

  return { cut };
};
