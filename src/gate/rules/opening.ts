import { DAY_MS } from '../../shared/rules/dates.ts';
import { OPEN_AFTER_CALLS, type Region } from '../../shared/rules/regions.ts';

export const OPEN_WINDOW_MS = 60_000;
export const CLOSE_AFTER_MS = 15 * 60_000;
/** A branch renews its lease or closes long before. */
const GONE_AFTER_MS = DAY_MS;
/** One for each region but home's. */
export const MAX_BRANCHES = 6;

/** Regions so near to each other that a branch would save less than what it adds to every change. */
const NEIGHBORS: Partial<Record<Region, Region>> = { weur: 'eeur', eeur: 'weur' };

export interface RegionCalls {
  region: Region;
  home: Region | null;
  opened: readonly Region[];
  /** Calls from this region that home has answered within the window. */
  calls: number;
}

/** Whether a region may have a branch. Home's own region and its neighbor have none. */
export const mayHaveBranch = (region: Region, home: Region | null): boolean =>
  region !== home && NEIGHBORS[region] !== home;

/** Whether home opens a branch for a region. */
export const shouldOpen = (
  { region, home, opened, calls }: RegionCalls,
  openAfterCalls = OPEN_AFTER_CALLS,
): boolean =>
  calls >= openAfterCalls &&
  mayHaveBranch(region, home) &&
  !opened.includes(region) &&
  opened.length < MAX_BRANCHES;

/** Whether a branch closes: it gives back what it holds and forgets the rest. */
export const shouldClose = (lastCallMs: number, nowMs: number, closeAfterMs = CLOSE_AFTER_MS): boolean =>
  nowMs - lastCallMs >= closeAfterMs;

/** Whether home closes a branch by itself, because the branch has not reported for so long that it may never return. */
export const isGone = (heardMs: number, nowMs: number): boolean => nowMs - heardMs >= GONE_AFTER_MS;
