import { logError } from '../shared/text/log.ts';
import type { Hint } from './jobs.ts';

/** Another hint isn't sent sooner, unless a consumer has received the first. */
const HINT_TIMEOUT_MS = 5_000;

/** Hints in flight, by endpoint. They are only in memory, so an eviction can cause a duplicate hint. */
export const openHints = (queue: Queue<Hint>, accountId: string) => {
  const sentAtMs = new Map<string, number>();
  return {
    markReceived: (endpointId: string) => sentAtMs.delete(endpointId),

    /** Returns whether the queue has a hint. */
    send: async (endpointId: string, nowMs: number): Promise<boolean> => {
      if ((sentAtMs.get(endpointId) ?? 0) > nowMs - HINT_TIMEOUT_MS) return true;
      sentAtMs.set(endpointId, nowMs);
      try {
        await queue.send({ account_id: accountId, endpoint_id: endpointId });
        return true;
      } catch (error) {
        logError('hint_not_sent', error, { account_id: accountId });
        sentAtMs.delete(endpointId);
        return false;
      }
    },
  };
};
