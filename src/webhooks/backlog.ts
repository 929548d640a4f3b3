import { logLine } from '../shared/log.ts';
import { MAX_PENDING } from '../shared/rules/webhooks.ts';

export const BACKLOG_ERROR = `more than ${MAX_PENDING.toLocaleString('en-US')} deliveries were pending, and this was the oldest`;

/** Deliveries failed per call, so that a backlog from an earlier release shrinks in steps. */
const MAX_FAILED_AT_ONCE = 5_000;
const LOG_INTERVAL_MS = 60_000;

/** Caps each endpoint's pending deliveries. They are counted once per start of the object, and then tracked. */
export const openBacklog = (sql: SqlStorage, accountId: string) => {
  const counts = new Map<string, number>();
  /** Ids below which no delivery of the endpoint is pending, so that settled deliveries are skipped. */
  const oldestIds = new Map<string, string>();
  let failedSinceLog = 0;
  let nextLogMs = 0;

  const count = (endpointId: string): number =>
    sql
      .exec<{ n: number }>(
        "SELECT count(*) AS n FROM deliveries WHERE status = 'pending' AND endpoint_id = ?",
        endpointId,
      )
      .one().n;

  /** Fails the oldest pending deliveries and returns their number. */
  const failOldest = (endpointId: string, limit: number): number => {
    // The plus sign makes SQLite read in the order of ids instead of sorting an index of pending deliveries.
    const failed = sql
      .exec<{ id: string }>(
        `UPDATE deliveries SET status = 'failed', lease = NULL, error = ?1 WHERE endpoint_id = ?2 AND id IN
           (SELECT id FROM deliveries WHERE endpoint_id = ?2 AND id > ?3 AND +status = 'pending' ORDER BY id LIMIT ?4)
         RETURNING id`,
        BACKLOG_ERROR,
        endpointId,
        oldestIds.get(endpointId) ?? '',
        limit,
      )
      .toArray()
      .map(({ id }) => id);
    const last = failed.toSorted().at(-1);
    if (last && failed.length === limit) oldestIds.set(endpointId, last);
    else oldestIds.delete(endpointId);
    return failed.length;
  };

  const logFailed = (endpointId: string, failed: number, nowMs: number) => {
    failedSinceLog += failed;
    if (nowMs < nextLogMs) return;
    const fields = { account_id: accountId, endpoint_id: endpointId, count: failedSinceLog };
    logLine('error', { event: 'backlog_capped', ...fields });
    failedSinceLog = 0;
    nextLogMs = nowMs + LOG_INTERVAL_MS;
  };

  /** Forgets what is known about the endpoint's deliveries. */
  const forget = (endpointId: string) => {
    counts.delete(endpointId);
    oldestIds.delete(endpointId);
  };

  return {
    forget,

    /** Tracks that the status of a delivery has changed. */
    track: (endpointId: string, wasPending: boolean, isPending: boolean) => {
      if (wasPending === isPending) return;
      const known = counts.get(endpointId);
      if (known !== undefined) counts.set(endpointId, known + (isPending ? 1 : -1));
      // The delivery may be older than all pending deliveries.
      if (isPending) oldestIds.delete(endpointId);
    },

    /** Tracks new deliveries, which are already in the table, and fails the oldest above the cap. */
    grow: (endpointId: string, added: number, nowMs: number) => {
      const known = counts.get(endpointId);
      const pending = known === undefined ? count(endpointId) : known + added;
      const excess = Math.min(pending - MAX_PENDING, MAX_FAILED_AT_ONCE + added);
      const failed = excess > 0 ? failOldest(endpointId, excess) : 0;
      counts.set(endpointId, pending - failed);
      if (failed > 0) logFailed(endpointId, failed, nowMs);
    },
  };
};
