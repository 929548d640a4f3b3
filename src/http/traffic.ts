import type { RequestCount } from './request-counts.ts';

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
