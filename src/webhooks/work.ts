import { armAlarm } from '../shared/objects/arm-alarm.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { databaseOf } from '../db/client.ts';
import { openStateReport } from '../db/object-state.ts';
import type { openDispatcher } from './dispatcher.ts';
import type { Endpoints } from './endpoint-store.ts';
import type { Events } from './event-store.ts';
import { HINT_TIMEOUT_MS, type openHints } from './hints.ts';
import { storedName } from '../shared/objects/stored-name.ts';
import type { Listening } from './listening.ts';

/** A delivery usually begins within seconds. */
const LATE_MS = 60_000;
/** Deliveries of an endpoint that are counted, so that no alarm takes long. */
const MAX_COUNTED = 10_000;

interface Parts {
  env: Env;
  ctx: DurableObjectState;
  events: Pick<Events, 'isEmpty'>;
  endpoints: Pick<Endpoints, 'listEnabled'>;
  listening: Pick<Listening, 'endsAtMs'>;
  dispatcher: Pick<ReturnType<typeof openDispatcher>, 'nextDue' | 'countWaiting'>;
  hints: Pick<ReturnType<typeof openHints>, 'send'>;
}

/** Decides when the outbox has work, and starts it. */
export const openWork = (parts: Parts) => {
  const { env, ctx, events, endpoints, listening, dispatcher, hints } = parts;
  const { storage } = ctx;
  const accountId = storedName(ctx);
  const reportState = openStateReport({
    kv: storage.kv,
    db: () => databaseOf(env, accountId),
    accountId,
    object: 'outbox',
  });

  const setAlarmBy = (ms: number): Promise<void> => armAlarm(storage, ms);

  /** Sends a hint for each endpoint that has deliveries due, and sets the alarm for the next check. */
  const schedule = async (nowMs: number): Promise<void> => {
    let nextCheckMs = events.isEmpty() ? Infinity : nowMs + DAY_MS;
    nextCheckMs = Math.min(nextCheckMs, listening.endsAtMs(nowMs));
    for (const endpoint of endpoints.listEnabled()) {
      const { dueMs, hasFreeLane } = dispatcher.nextDue(endpoint, nowMs);
      // If every lane is busy, each lane takes the next due delivery when its attempt ends.
      if (dueMs <= nowMs && hasFreeLane) await hints.send(endpoint.id, nowMs);
      nextCheckMs = Math.min(nextCheckMs, dueMs <= nowMs ? nowMs + HINT_TIMEOUT_MS : dueMs);
    }
    await setAlarmBy(nextCheckMs);
  };

  /** For the operator's metrics. */
  const report = (nowMs: number) => {
    const enabled = endpoints.listEnabled();
    const waiting = enabled.map(({ id }) => dispatcher.countWaiting(id, nowMs - LATE_MS, MAX_COUNTED));
    return reportState({
      loading: 0,
      waiting: waiting.reduce((sum, count) => sum + count, 0),
      failingEndpoints: enabled.filter(({ failingSinceMs }) => failingSinceMs !== null).length,
    });
  };

  return {
    setAlarmBy,

    schedule,

    finishAlarm: async (nowMs: number): Promise<void> => {
      await schedule(nowMs);
      await report(nowMs);
    },
  };
};
