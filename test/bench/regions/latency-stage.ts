// How long a verify takes in each region, with its home only and with branches.
import { CALLER_REGIONS, type CallerRegion } from '../../support/round-trips.ts';
import type { Load } from '../load/load.ts';
import { requestOf } from '../load/plan.ts';
import { type Figure, measure, type Target } from '../rounds.ts';
import type { Licensed } from '../seed.ts';
import type { Running } from '../service.ts';
import { verifyTarget } from '../targets.ts';

export interface Served {
  service: Running;
  account: Licensed;
}

export interface Worlds {
  /** Without the feature. */
  off: Served;
  on: Served;
}

export interface Compared {
  homeOnly: Figure;
  branches: Figure;
}

const CONNECTIONS = { one: 1, many: 16 };
const MANY_MS = 1_500;

export interface LatencyFigures {
  /** With one connection, by the caller's region. */
  one: Partial<Record<CallerRegion, Compared>>;
  /** With 16 connections, when calls wait for each other's commits. */
  many: Partial<Record<CallerRegion, Compared>>;
  /** With one connection: a call within a region that only writes a row. */
  floor: Figure;
}

/** Where a branch answers as the floor does, within its region. */
const FLOOR_REGION = 'weur';

const floorTarget = ({ service: { runtime } }: Served): Target => ({
  name: 'floor',
  runtime,
  request: requestOf('POST', '/api/simulated-network', { 'caller-region': FLOOR_REGION }, '{}'),
  expect: { status: 200, text: '"written":true' },
});

const measureFrom = async (
  load: Load,
  { off, on }: Worlds,
  regions: readonly CallerRegion[],
  slice: Parameters<typeof measure>[2],
  rounds: number,
  others: Target[] = [],
) => {
  const target = (name: string, { service, account }: Served, region: CallerRegion) =>
    verifyTarget(`${name} ${region}`, service.runtime, account, account.licenses.count, {
      'caller-region': region,
    });
  const targets = regions.flatMap((region) => [
    target('home only', off, region),
    target('branches', on, region),
  ]);
  const figures = await measure(load, [...targets, ...others], slice, rounds);
  const compared: Partial<Record<CallerRegion, Compared>> = {};
  for (const region of regions) {
    const homeOnly = figures[`home only ${region}`];
    const branches = figures[`branches ${region}`];
    if (homeOnly && branches) compared[region] = { homeOnly, branches };
  }
  return { compared, figures };
};

export const measureLatency = async (load: Load, worlds: Worlds, rounds: number): Promise<LatencyFigures> => {
  const one = await measureFrom(
    load,
    worlds,
    CALLER_REGIONS,
    { connections: CONNECTIONS.one, calls: 20, durationMs: 2_000 },
    rounds,
    [floorTarget(worlds.on)],
  );
  const many = await measureFrom(
    load,
    worlds,
    ['weur', 'oc'],
    { connections: CONNECTIONS.many, calls: Infinity, durationMs: MANY_MS },
    rounds,
  );
  const { floor } = one.figures;
  if (!floor) throw new Error('The floor has no figures.');
  return { one: one.compared, many: many.compared, floor };
};
