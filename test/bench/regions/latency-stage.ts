// How long a verify takes in each region, with its home only and with branches.
import { CALLER_REGIONS, type CallerRegion } from '../../support/round-trips.ts';
import type { Load } from '../load/load.ts';
import { type Figure, measure } from '../rounds.ts';
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
}

const measureFrom = async (
  load: Load,
  { off, on }: Worlds,
  regions: readonly CallerRegion[],
  slice: Parameters<typeof measure>[2],
  rounds: number,
) => {
  const target = (name: string, { service, account }: Served, region: CallerRegion) =>
    verifyTarget(`${name} ${region}`, service.runtime, account, account.licenses.count, {
      'caller-region': region,
    });
  const targets = regions.flatMap((region) => [
    target('home only', off, region),
    target('branches', on, region),
  ]);
  const figures = await measure(load, targets, slice, rounds);
  const compared: Partial<Record<CallerRegion, Compared>> = {};
  for (const region of regions) {
    const homeOnly = figures[`home only ${region}`];
    const branches = figures[`branches ${region}`];
    if (homeOnly && branches) compared[region] = { homeOnly, branches };
  }
  return compared;
};

export const measureLatency = async (
  load: Load,
  worlds: Worlds,
  rounds: number,
): Promise<LatencyFigures> => ({
  one: await measureFrom(
    load,
    worlds,
    CALLER_REGIONS,
    { connections: CONNECTIONS.one, calls: 20, durationMs: 2_000 },
    rounds,
  ),
  many: await measureFrom(
    load,
    worlds,
    ['weur', 'oc'],
    { connections: CONNECTIONS.many, calls: Infinity, durationMs: MANY_MS },
    rounds,
  ),
});
