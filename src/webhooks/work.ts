import { DAY_MS } from '../shared/rules/dates.ts';
import type { openDispatcher } from './dispatcher.ts';
import type { Endpoints } from './endpoint-store.ts';
import type { Events } from './event-store.ts';
import { HINT_TIMEOUT_MS, type openHints } from './hints.ts';
import type { Listening } from './listening.ts';

interface Parts {
  storage: DurableObjectStorage;
  events: Pick<Events, 'isEmpty'>;
  endpoints: Pick<Endpoints, 'listEnabled'>;
  listening: Pick<Listening, 'endsAtMs'>;
  dispatcher: Pick<ReturnType<typeof openDispatcher>, 'nextDue'>;
  hints: Pick<ReturnType<typeof openHints>, 'send'>;
}

/** Decides when the outbox has work, and lets it be done. */
export const openWork = ({ storage, events, endpoints, listening, dispatcher, hints }: Parts) => {
  /** Sets the alarm, unless an earlier alarm is set. */
  const setAlarmBy = async (ms: number): Promise<void> => {
    const currentMs = (await storage.getAlarm()) ?? Infinity;
    if (ms < currentMs) await storage.setAlarm(ms);
  };

  return {
    setAlarmBy,

    /** Sends a hint for each endpoint that has deliveries due, and sets the alarm for the next check. */
    schedule: async (nowMs: number): Promise<void> => {
      let nextCheckMs = events.isEmpty() ? Infinity : nowMs + DAY_MS;
      nextCheckMs = Math.min(nextCheckMs, listening.endsAtMs(nowMs));
      for (const endpoint of endpoints.listEnabled()) {
        const { dueMs, hasFreeLane } = dispatcher.nextDue(endpoint, nowMs);
        // If every lane is busy, each lane takes the next due delivery when its attempt ends.
        if (dueMs <= nowMs && hasFreeLane) await hints.send(endpoint.id, nowMs);
        nextCheckMs = Math.min(nextCheckMs, dueMs <= nowMs ? nowMs + HINT_TIMEOUT_MS : dueMs);
      }
      await setAlarmBy(nextCheckMs);
    },
  };
};
