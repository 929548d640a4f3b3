import { coalesce } from '../shared/objects/coalesce.ts';
import { logError } from '../shared/text/log.ts';
import { gateOf } from '../shared/objects/address.ts';
import { type Endpoints, isSubscribedTo } from './endpoint-store.ts';
import { HINT_TIMEOUT_MS } from './hints.ts';
import type { Listening } from './listening.ts';
import type { Endpoint } from './outbox-tables.ts';

/** Stores the last `wantsVerified` value that the gate has confirmed. */
const CONFIRMED_BY_GATE = 'told_gate';

interface Outbox {
  env: Env;
  accountId: string;
  storage: DurableObjectStorage;
  endpoints: Endpoints;
  listening: Listening;
  setAlarmBy: (ms: number) => Promise<void>;
}

/**
 * Tells the gate whether any endpoint or listening client wants `license.verified`, so that it creates these events only
 * if needed.
 */
export const openGateSubscription = ({
  env,
  accountId,
  storage,
  endpoints,
  listening,
  setAlarmBy,
}: Outbox) => {
  /** Changes under way that subscribe an endpoint to `license.verified`. */
  let subscribing = 0;

  const wantsVerified = () =>
    subscribing > 0 ||
    listening.isActive(Date.now()) ||
    endpoints.listSubscribedTo('license.verified').length > 0;

  // One update at a time, because an older value that arrives late would overwrite the newer value.
  const update = coalesce(async () => {
    const wanted = wantsVerified();
    if (storage.kv.get<boolean>(CONFIRMED_BY_GATE) === wanted) return;
    // Deleted first, so that after a restart during the call the value is sent again.
    storage.kv.delete(CONFIRMED_BY_GATE);
    await setAlarmBy(Date.now() + HINT_TIMEOUT_MS);
    await gateOf(env, accountId).setWantsVerified(wanted);
    storage.kv.put(CONFIRMED_BY_GATE, wanted);
  });

  /** Sends the value after a change that is saved. If this fails, no event is missed, and the alarm tries again. */
  const updateAfterChange = () =>
    update().catch((error: unknown) => {
      logError('subscriptions_not_sent', error, { account_id: accountId });
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
      if (isSubscribedTo(changed, 'license.verified')) {
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
