import { MAX_PENDING } from '../shared/rules/webhooks.ts';
import { logLine } from '../shared/text/log.ts';
import type { Lanes } from './outbox-tables.ts';
import type { Pending } from './pending-store.ts';

const BACKLOG_ERROR = `more than ${MAX_PENDING.toLocaleString('en-US')} deliveries were pending, and this was the oldest`;

/** Deliveries failed per call, so that a large backlog shrinks in steps. */
const MAX_FAILED_AT_ONCE = 5_000;
const LOG_INTERVAL_MS = 60_000;

/** Caps each endpoint's pending deliveries. They are counted once per start of the object, and then tracked. */
export const openBacklog = (pending: Pending, accountId: string) => {
  const counts = new Map<string, number>();
  /** Ids below which no delivery of the endpoint is pending, so that settled deliveries are skipped. */
  const oldestIds = new Map<string, string>();
  let failedSinceLog = 0;
  let nextLogMs = 0;

  /** Fails the oldest pending deliveries and returns their number. */
  const failOldest = (endpointId: string, lanes: Lanes, limit: number): number => {
    const afterId = oldestIds.get(endpointId) ?? '';
    const failed = pending.failOldest(endpointId, lanes, { afterId, limit, error: BACKLOG_ERROR });
    const last = failed.at(-1);
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

  return {
    /** Forgets what is known about the deliveries of all endpoints. */
    forget: () => {
      counts.clear();
      oldestIds.clear();
    },

    /** Tracks new deliveries. */
    add: (endpointId: string, added: number) => {
      const known = counts.get(endpointId);
      if (known !== undefined) counts.set(endpointId, known + added);
    },

    /** Tracks that the status of a delivery has changed. */
    track: (endpointId: string, wasPending: boolean, isPending: boolean) => {
      if (wasPending === isPending) return;
      const known = counts.get(endpointId);
      if (known !== undefined) counts.set(endpointId, known + (isPending ? 1 : -1));
      // The delivery may be older than all pending deliveries.
      if (isPending) oldestIds.delete(endpointId);
    },

    /** Fails the oldest pending deliveries if `added` more would exceed the cap. Returns whether any failed. */
    makeRoom: (endpointId: string, lanes: Lanes, added: number, nowMs: number): boolean => {
      const known = counts.get(endpointId) ?? pending.count(endpointId, lanes);
      const excess = Math.min(known + added - MAX_PENDING, MAX_FAILED_AT_ONCE + added);
      const failed = excess > 0 ? failOldest(endpointId, lanes, excess) : 0;
      counts.set(endpointId, known - failed);
      if (failed > 0) logFailed(endpointId, failed, nowMs);
      return failed > 0;
    },
  };
};

export type Backlog = ReturnType<typeof openBacklog>;
