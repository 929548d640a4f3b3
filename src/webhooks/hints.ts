import { logError } from '../shared/text/log.ts';
import type { Hint } from './jobs.ts';

/** A hint that no consumer has processed after this delay counts as lost. */
export const HINT_TIMEOUT_MS = 5_000;

/** Hints in flight, by endpoint. They are only in memory, so an eviction can cause a duplicate hint. */
export const openHints = (queue: Queue<Hint>, accountId: string) => {
  const sentAtMs = new Map<string, number>();
  return {
    markReceived: (endpointId: string) => sentAtMs.delete(endpointId),

    send: async (endpointId: string, nowMs: number): Promise<void> => {
      if ((sentAtMs.get(endpointId) ?? 0) > nowMs - HINT_TIMEOUT_MS) return;
      sentAtMs.set(endpointId, nowMs);
      try {
        await queue.send({ account_id: accountId, endpoint_id: endpointId });
      } catch (error) {
        // The alarm sends another hint.
        logError('hint_not_sent', error, { account_id: accountId });
      }
    },
  };
};
