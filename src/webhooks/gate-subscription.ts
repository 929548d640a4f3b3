import { gateOf } from '../shared/objects/address.ts';
import { coalesce } from '../shared/objects/coalesce.ts';
import type { ObjectContext } from '../shared/objects/context.ts';
import { logError } from '../shared/text/log.ts';
import { type Endpoints, isSubscribedTo } from './endpoint-store.ts';
import type { Listening } from './listening.ts';
import type { Endpoint } from './outbox-tables.ts';

const RETRY_MS = 5_000;
/** Stores the last `wantsVerified` value that the gate has confirmed. */
const CONFIRMED_BY_GATE = 'told_gate';

/** Lets the gate of a restored outbox be told. What either of them knew of the other may be older or newer than the endpoints. */
export const tellGateAnew = (kv: SyncKvStorage) => kv.delete(CONFIRMED_BY_GATE);

/**
 * Tells the gate whether any endpoint or listening client wants `license.verified`, so that it creates these events only
 * if needed.
 */
export const openGateSubscription = (
  { ctx, env, accountId, alarm }: ObjectContext,
  endpoints: Endpoints,
  listening: Listening,
) => {
  const { kv } = ctx.storage;
  /** When to send the value again, in case the gate can't be reached. */
  let retryMs: number | null = null;
  /** Changes under way that subscribe an endpoint to `license.verified`. */
  let subscribing = 0;

  const wantsVerified = () =>
    subscribing > 0 ||
    listening.wantsVerified(Date.now()) ||
    endpoints.listSubscribedTo('license.verified', Date.now()).length > 0;

  // One update at a time, because an older value that arrives late would overwrite the newer value.
  const update = coalesce(async () => {
    const wanted = wantsVerified();
    if (kv.get<boolean>(CONFIRMED_BY_GATE) === wanted) return;
    // Deleted first, so that after a restart during the call the value is sent again.
    kv.delete(CONFIRMED_BY_GATE);
    retryMs = Date.now() + RETRY_MS;
    await alarm.arm();
    await gateOf(env, accountId).setWantsVerified(wanted);
    kv.put(CONFIRMED_BY_GATE, wanted);
    retryMs = null;
  });

  /** Sends the value after a change that is saved. If this fails, no event is missed, and the alarm tries again. */
  const updateAfterChange = () =>
    update().catch((error: unknown) => {
      logError('subscriptions_not_sent', error, { account_id: accountId });
    });

  alarm.add({
    failure: 'outbox_alarm_failed',
    dueMs: (nowMs) => Math.min(retryMs ?? Infinity, listening.endsAtMs(nowMs)),
    run: (nowMs) => {
      listening.endIfIdle(nowMs);
      return update();
    },
  });

  return {
    wantsVerified,
    update,
    updateAfterChange,

    /**
     * Runs `save`, which stores `changed`. If that subscribes the endpoint to `license.verified`, the gate creates
     * these events from before `save` on, and if the gate can't be reached, nothing is saved.
     */
    save: async <T>(changed: Endpoint, save: () => T): Promise<T> => {
      let saved: T;
      if (isSubscribedTo(changed, 'license.verified', Date.now())) {
        subscribing += 1;
        try {
          await update();
          saved = save();
        } finally {
          subscribing -= 1;
        }
      } else saved = save();
      await updateAfterChange();
      return saved;
    },
  };
};

export type GateSubscription = ReturnType<typeof openGateSubscription>;
