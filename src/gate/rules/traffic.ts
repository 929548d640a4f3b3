import { isoDate } from '../../shared/rules/dates.ts';
import type { Region } from '../../shared/rules/regions.ts';

// Answered calls by the region of their callers and the region that answered, with how long the Worker waited. The counts of
// the current day are in the row that every commit writes anyway, so they cost no row, and a restart loses none of them.

/** Traffic is kept for this many days, today included. */
export const TRAFFIC_DAYS = 30;

/** How long a Worker waited for an answer, and the region that answered. The region is null for a home without one. */
export interface Wait {
  answeredIn: Region | null;
  ms: number;
}

/** Upper limits of the buckets of waits. One more bucket has all longer waits. */
const BUCKETS_MS = [10, 15, 20, 25, 30, 40, 50, 65, 80, 100, 125, 150, 200, 250, 300, 400, 600, 1_000, 2_500];

export interface Route {
  calls: number;
  /** Measured waits by bucket. A Worker reports only some of them. */
  waits: number[];
}

/** By the name of the route, see `routeName`. */
export type DayTraffic = Record<string, Route>;

/** By date. */
export type Traffic = Record<string, DayTraffic>;

const routeName = (from: Region, to: Region | null) => `${from}>${to ?? ''}`;

export const readRouteName = (name: string) => {
  const [from, to] = name.split('>');
  return { from: from as Region, to: (to || null) as Region | null };
};

const emptyRoute = (): Route => ({ calls: 0, waits: Array.from({ length: BUCKETS_MS.length + 1 }, () => 0) });

const combine = (a: Route, b: Route, count: (a: number, b: number) => number): Route => ({
  calls: count(a.calls, b.calls),
  waits: a.waits.map((waits, i) => count(waits, b.waits[i] ?? 0)),
});

const addRoutes = (a: Route, b: Route): Route => combine(a, b, (x, y) => x + y);

export const sumRoutes = (routes: Route[]): Route => routes.reduce(addRoutes, emptyRoute());

const combineDays = (a: DayTraffic, b: DayTraffic, combined: (a: Route, b: Route) => Route): DayTraffic => {
  const day = { ...a };
  for (const [name, route] of Object.entries(b)) day[name] = combined(day[name] ?? emptyRoute(), route);
  return day;
};

export const sumDays = (a: DayTraffic, b: DayTraffic): DayTraffic => combineDays(a, b, addRoutes);

/** Merges two reports of the same day. Counts only grow, so the larger one is the later one. */
export const mergeDays = (a: DayTraffic, b: DayTraffic): DayTraffic =>
  combineDays(a, b, (x, y) => combine(x, y, Math.max));

const bucketOf = (ms: number) => {
  const bucket = BUCKETS_MS.findIndex((limitMs) => ms <= limitMs);
  return bucket === -1 ? BUCKETS_MS.length : bucket;
};

/** Returns the wait that `part` of the waits don't exceed, interpolated within its bucket, or null without waits. */
export const quantileMs = (waits: number[], part: number): number | null => {
  let left = waits.reduce((sum, count) => sum + count, 0) * part;
  if (left === 0) return null;
  for (const [bucket, count] of waits.entries()) {
    const [fromMs, toMs] = [BUCKETS_MS[bucket - 1] ?? 0, BUCKETS_MS[bucket]];
    // Longer waits have no upper limit.
    if (toMs === undefined) return fromMs;
    if (left <= count) return Math.round(fromMs + ((toMs - fromMs) * left) / count);
    left -= count;
  }
  return null;
};

/** The traffic of the current day, and of the day before until somebody has taken it. */
export const openTraffic = (stored: string) => {
  let days: Traffic = stored === '' ? {} : (JSON.parse(stored) as Traffic);

  const routeOf = (from: Region, to: Region | null, nowMs: number): Route => {
    const date = isoDate(nowMs);
    if (!days[date]) {
      const latest = Object.keys(days).toSorted().at(-1);
      days = { ...(latest !== undefined && { [latest]: days[latest] }), [date]: {} } as Traffic;
    }
    const day = days[date] as DayTraffic;
    return (day[routeName(from, to)] ??= emptyRoute());
  };

  return {
    /** Counts an answered call. */
    count: (from: Region, to: Region | null, nowMs: number) => {
      routeOf(from, to, nowMs).calls++;
    },

    noteWait: (from: Region, { answeredIn, ms }: Wait, nowMs: number) => {
      const { waits } = routeOf(from, answeredIn, nowMs);
      const bucket = bucketOf(ms);
      waits[bucket] = (waits[bucket] ?? 0) + 1;
    },

    days: (): Traffic => days,

    /** Removes and returns all days but the last one. */
    takePast: (): Traffic | null => {
      const dates = Object.keys(days).toSorted();
      const today = dates.pop();
      if (today === undefined || dates.length === 0) return null;
      const { [today]: last, ...past } = days;
      days = { [today]: last } as Traffic;
      return past;
    },

    clear: () => {
      days = {};
    },

    text: () => (Object.keys(days).length === 0 ? '' : JSON.stringify(days)),
  };
};

export interface OpenBranch {
  region: Region;
  openedAtMs: number;
}

export interface RegionStatistics {
  branches: OpenBranch[];
  /** Calls by the regions of their callers and of the object that answered. */
  routes: DayTraffic;
}
