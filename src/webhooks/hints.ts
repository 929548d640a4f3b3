import { logError } from '../shared/log.ts';
import type { Hint } from './jobs.ts';

/** A hint that nobody has followed by then was lost. */
export const HINT_PATIENCE_MS = 5_000;

/** Hints under way, by endpoint. Forgotten on eviction, which costs a hint too many. */
export const openHints = (queue: Queue<Hint>, accountId: string) => {
  const sentAtMs = new Map<string, number>();
  return {
    followed: (endpointId: string) => sentAtMs.delete(endpointId),

    send: async (endpointId: string, nowMs: number): Promise<void> => {
      if ((sentAtMs.get(endpointId) ?? 0) > nowMs - HINT_PATIENCE_MS) return;
      sentAtMs.set(endpointId, nowMs);
      try {
        await queue.send({ account_id: accountId, endpoint_id: endpointId });
      } catch (error) {
        // The alarm hints again.
        logError('hint_failed', error, { account_id: accountId });
      }
    },
  };
};
