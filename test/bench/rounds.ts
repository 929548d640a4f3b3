// Measures targets in turn over several rounds, so that other work on the machine affects all of them.
import type { Load } from './load/load.ts';
import type { Outcome, Plan, Request } from './load/plan.ts';
import { type Runtime, untilIdle } from './runtime.ts';

export interface Target {
  name: string;
  runtime: Runtime;
  request: Request;
  expect: Plan['expect'];
}

export interface Figure {
  callsPerSecond: number;
  p50Ms: number;
  p95Ms: number;
  /** CPU time of the runtime, including its background work. */
  cpuMsPerCall: number;
  /** Time until the runtime was idle after the last response. */
  restMs: number;
  rounds: Record<InEachRound, number>[];
}

export type InEachRound = 'callsPerSecond' | 'p50Ms' | 'p95Ms';

export interface Slice {
  connections: number;
  calls: number;
  durationMs: number;
}

export const median = (numbers: number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
};

/** Compares round by round, because other work on the machine affects both targets in a round, and returns the median. */
export const ratioOf = (
  figure: Figure | undefined,
  other: Figure | undefined,
  key: InEachRound = 'p50Ms',
): number =>
  median((figure?.rounds ?? []).map((round, i) => round[key] / (other?.rounds[i]?.[key] ?? Number.NaN)));

export const planOf = ({ runtime: { port }, request, expect }: Target, slice: Slice): Plan => ({
  port,
  request,
  expect,
  ...slice,
});

const measured = async (load: Load, target: Target, slice: Slice) => {
  const { runtime } = target;
  const before = runtime.cpuMs();
  const outcome = await load.run(planOf(target, slice));
  const restMs = await untilIdle([runtime]);
  return { ...outcome, restMs, cpuMsPerCall: (runtime.cpuMs() - before) / outcome.calls };
};

type Measured = Outcome & Pick<Figure, 'restMs' | 'cpuMsPerCall'>;

const toFigure = (slices: Measured[]): Figure => {
  const of = (key: 'callsPerSecond' | 'p50Ms' | 'p95Ms' | 'cpuMsPerCall' | 'restMs') =>
    median(slices.map((slice) => slice[key]));
  return {
    callsPerSecond: of('callsPerSecond'),
    p50Ms: of('p50Ms'),
    p95Ms: of('p95Ms'),
    cpuMsPerCall: of('cpuMsPerCall'),
    restMs: of('restMs'),
    rounds: slices.map(({ callsPerSecond, p50Ms, p95Ms }) => ({ callsPerSecond, p50Ms, p95Ms })),
  };
};

/** Returns a figure by target name. The first round is a warm-up and is not counted. */
export const measure = async (
  load: Load,
  targets: Target[],
  slice: Slice,
  rounds: number,
): Promise<Record<string, Figure>> => {
  const slices = new Map<string, Measured[]>(targets.map(({ name }) => [name, []]));
  await untilIdle(targets.map(({ runtime }) => runtime));
  for (let round = 0; round <= rounds; round++) {
    const first = round % targets.length;
    for (const target of [...targets.slice(first), ...targets.slice(0, first)]) {
      const one = await measured(load, target, slice);
      if (round > 0) slices.get(target.name)?.push(one);
    }
  }
  return Object.fromEntries([...slices].map(([name, measurements]) => [name, toFigure(measurements)]));
};
