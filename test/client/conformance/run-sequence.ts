import type { LicenseState, PinnedKeys } from '../../../src/client/core/types.ts';
import type { Application, Expectation, Sequence } from '../../conformance/sequences/words.ts';
import type { Delivery } from '../../conformance/double/network.ts';
import type { ServiceEvent } from '../../conformance/double/service.ts';
import type { World } from '../../conformance/world.ts';
import { createMachine } from './machine.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.ts';

export interface Report {
  counted: number;
  seats: Record<string, number>;
}

/** The double of the service: in this process, or another one. */
export interface Double {
  deliver: (request: Request) => Promise<Delivery>;
  apply: (event: ServiceEvent) => Promise<{ file?: string }>;
  report: () => Promise<Report>;
  keys: PinnedKeys;
}

const observed = (
  { code, valid, source, problem }: LicenseState,
  { counted, seats }: Report,
  licenseKey: string,
  unbroken: boolean,
): Required<Expectation> => ({
  code,
  valid,
  source,
  problem: problem?.kind ?? null,
  counted,
  seats: seats[licenseKey] ?? 0,
  unbroken,
});

/** What was observed, as far as something is expected of it. A number in the expected range is taken for it. */
const asExpected = (seen: Required<Expectation>, expect: Expectation): Expectation => {
  const { counted } = expect;
  const isIn =
    Array.isArray(counted) && Number(seen.counted) >= counted[0] && Number(seen.counted) <= counted[1];
  const told = { ...seen, ...(isIn && { counted }) };
  return Object.fromEntries(Object.keys(expect).map((name) => [name, told[name as keyof Expectation]]));
};

interface File {
  start: string;
  application: Application;
  world: Required<Pick<World, 'licenses' | 'products'>>;
}

/** Runs a sequence, and returns each step of which something is expected, with what was observed. */
export const runSequence = async (
  { start, application, world: usualWorld }: File,
  sequence: Sequence,
  openDouble: (time: VirtualTime, world: World) => Promise<Double>,
  random: () => number,
) => {
  const time = createVirtualTime(Date.parse(start));
  const world = { now: start, ...usualWorld, ...sequence.world };
  const double = await openDouble(time, world);
  const machine = createMachine(
    time,
    double.deliver,
    double.keys,
    { ...application, ...sequence.application },
    random,
  );
  const files = new Map<string, string>();
  const licenseKey = world.licenses[0]?.license_key ?? '';
  const steps = [];
  for (const { at, event, expect = {} } of sequence.steps) {
    await time.until(Math.max(Date.parse(at), time.nowMs()));
    if ('call' in event) {
      const state = await time.settle(machine.call(event, files));
      const seen = observed(state, await double.report(), licenseKey, machine.isUnbroken(event));
      steps.push({ at, event, expect, seen: asExpected(seen, expect) });
    } else if ('machine' in event) machine.happen(event);
    else if ('store' in event) machine.store(event);
    else {
      const { file } = await double.apply(event);
      if (file) files.set(event.as ?? '', file);
    }
  }
  machine.end();
  return steps;
};
