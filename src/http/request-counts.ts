// What this isolate has seen since it started, for the operator's metrics. Counters go back to 0 with a new isolate, as
// Prometheus expects of a restarted process.

const MAX_KINDS = 2_000;
const VERIFY = '/api/v1/licenses/verify';

export interface RequestCount {
  method: string;
  route: string;
  status: number;
  code: string;
  count: number;
}

const counts = new Map<string, RequestCount>();

/** Upper bounds in milliseconds. */
const BOUNDS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000];
const verifies = { bounds: BOUNDS_MS, buckets: BOUNDS_MS.map(() => 0), count: 0, sumMs: 0 };

const countVerify = (durationMs: number) => {
  const bucket = BOUNDS_MS.findIndex((bound) => durationMs <= bound);
  if (bucket !== -1) verifies.buckets[bucket] = (verifies.buckets[bucket] ?? 0) + 1;
  verifies.count++;
  verifies.sumMs += durationMs;
};

/** Counts a request. `kind` is unique for the method, route, status and error code. */
export const countRequest = (
  kind: string,
  request: Omit<RequestCount, 'count'>,
  durationMs: number,
): void => {
  const known = counts.get(kind);
  if (known) known.count++;
  else if (counts.size < MAX_KINDS) counts.set(kind, { ...request, count: 1 });
  if (request.route === VERIFY && request.status === 200) countVerify(durationMs);
};

export const readRequestCounts = () => ({ requests: [...counts.values()], verifies });

/**
 * Writes a request to Analytics Engine, which sums over all isolates. Most services have no such binding. scripts/traffic.ts reads
 * the columns by their positions. There is nothing of an account in them.
 */
export const writeTraffic = (
  { TRAFFIC: dataset }: Env,
  { method, route, status, code }: Omit<RequestCount, 'count'>,
  durationMs: number,
): void =>
  dataset?.writeDataPoint({
    indexes: [route],
    blobs: [method, route, String(status), code],
    doubles: [durationMs],
  });
