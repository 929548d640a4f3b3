import { databaseOf } from '../db/client.ts';
import { openStateReport, USUAL } from '../db/object-state.ts';
import type { ObjectContext } from '../shared/objects/context.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Endpoints } from './endpoint-store.ts';
import { openHints } from './hints.ts';

/** The queue loses hints rarely, so the alarm that makes up for it stands for all deliveries of this long. */
const HINT_LOST_MS = 60_000;
const HINT_RETRY_MS = 5_000;

/** A delivery usually begins within seconds. */
const LATE_MS = 60_000;
/** Deliveries of an endpoint that are counted, so that no alarm takes long. */
const MAX_COUNTED = 10_000;

/** Decides when the outbox sends hints, and reports its state. */
export const openWork = (
  { ctx, env, accountId, journal, alarm }: ObjectContext,
  endpoints: Pick<Endpoints, 'listEnabled'>,
  dispatcher: Pick<Dispatcher, 'nextDueMs' | 'countWaiting'>,
) => {
  const hints = openHints(env.WEBHOOKS, accountId);
  /** When to look again. The alarm of the process before may come earlier. */
  let nextCheckMs = Infinity;

  /** Sends a hint for each endpoint that has deliveries due. */
  const sendHints = async (nowMs: number): Promise<void> => {
    nextCheckMs = Infinity;
    for (const endpoint of endpoints.listEnabled()) {
      const dueMs = dispatcher.nextDueMs(endpoint, nowMs);
      const isSent = dueMs > nowMs || (await hints.send(endpoint.id, nowMs));
      const checkMs = dueMs > nowMs ? dueMs : nowMs + (isSent ? HINT_LOST_MS : HINT_RETRY_MS);
      nextCheckMs = Math.min(nextCheckMs, checkMs);
    }
  };

  const reportState = openStateReport({
    kv: ctx.storage.kv,
    journal,
    db: () => databaseOf(env, accountId),
    accountId,
    object: 'outbox',
  });

  alarm.add({ failure: 'outbox_alarm_failed', dueMs: () => nextCheckMs, run: sendHints });
  alarm.add({
    failure: 'outbox_alarm_failed',
    isLast: true,
    dueMs: () => null,
    // For the operator's metrics.
    run: (nowMs) => {
      const enabled = endpoints.listEnabled();
      const waiting = enabled.map(({ id }) => dispatcher.countWaiting(id, nowMs - LATE_MS, MAX_COUNTED));
      return reportState({
        ...USUAL,
        waiting: waiting.reduce((sum, count) => sum + count, 0),
        failingEndpoints: enabled.filter(({ failingSinceMs }) => failingSinceMs !== null).length,
      });
    },
  });

  return {
    /** A consumer has received a hint for the endpoint. */
    markReceived: hints.markReceived,

    /** Sends hints, and sets the alarm for the next check. */
    schedule: async (nowMs: number): Promise<void> => {
      await sendHints(nowMs);
      await alarm.arm();
    },
  };
};

export type Work = ReturnType<typeof openWork>;
