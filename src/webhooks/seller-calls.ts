import type { ObjectContext } from '../shared/objects/context.ts';
import { TEST_EVENT } from '../shared/rules/events.ts';
import { newEvent } from '../shared/text/events.ts';
import type { Dispatcher } from './dispatcher.ts';
import { type Endpoints, nextRotationMs, withChanges, withSecret } from './endpoint-store.ts';
import type { GateSubscription } from './gate-subscription.ts';
import { openMadeOnce } from './made-once.ts';
import type { DeliveryRecord, Endpoint } from './outbox-tables.ts';
import type { Replayed, ReplayResult, Wanted } from './repeats.ts';
import type { Work } from './work.ts';

const FIRST_ENDPOINT_AT = 'first_endpoint_at';

/** What a seller changes of webhooks and deliveries. With the same `onceId`, a change is made once. */
export const openSellerCalls = (
  { ctx, journal }: Pick<ObjectContext, 'ctx' | 'journal'>,
  endpoints: Endpoints,
  dispatcher: Pick<Dispatcher, 'saveEndpoint' | 'accept' | 'getRecord' | 'resend' | 'replay'>,
  gate: Pick<GateSubscription, 'save'>,
  work: Pick<Work, 'schedule'>,
) => {
  const { sql, kv } = ctx.storage;
  const made = openMadeOnce(sql, journal);
  const isEnabled = (endpointId: string) => endpoints.get(endpointId)?.disabledReason === null;

  return {
    firstEndpointAtMs: (): number | null => kv.get<number>(FIRST_ENDPOINT_AT) ?? null,

    /** Returns false at the limit. An endpoint that was added already is not added again, even if it was deleted since. */
    addEndpoint: async (endpoint: Endpoint, limit: number, onceId: string | null): Promise<boolean> => {
      const add = () => {
        if (endpoints.get(endpoint.id)) return true;
        if (endpoints.count() >= limit) return null;
        endpoints.save(endpoint);
        if (!kv.get(FIRST_ENDPOINT_AT)) kv.put(FIRST_ENDPOINT_AT, endpoint.createdAtMs);
        return true;
      };
      return (await gate.save(endpoint, () => made.run(onceId, add))) ?? false;
    },

    updateEndpoint: async (
      id: string,
      fields: Partial<Endpoint>,
      onceId: string | null,
    ): Promise<Endpoint | null> => {
      const known = endpoints.get(id);
      if (!known) return null;
      const update = () => {
        const current = endpoints.get(id);
        if (!current) return null;
        dispatcher.saveEndpoint(current, withChanges(current, fields), Date.now());
        return id;
      };
      await gate.save(withChanges(known, fields), () => made.run(onceId, update));
      await work.schedule(Date.now());
      return endpoints.get(id);
    },

    /**
     * Replaces the secret in one turn, so that parallel rotations keep each other's secret. Returns null if too many secrets
     * sign already.
     */
    rotateSecret: (id: string, sealedSecret: string, onceId: string | null): Endpoint | null => {
      const nowMs = Date.now();
      const rotated = made.run(onceId, () => {
        const current = endpoints.get(id);
        if (!current || current.sealedSecret === sealedSecret) return current && id;
        if (nowMs < nextRotationMs(current)) return null;
        endpoints.save(withSecret(current, sealedSecret, nowMs));
        return id;
      });
      return rotated === null ? null : endpoints.get(id);
    },

    /** Creates a test event and delivers it to this endpoint only. */
    sendTest: async (
      endpointId: string,
      customerEmail: string,
      onceId: string | null,
    ): Promise<DeliveryRecord | null> => {
      const endpoint = endpoints.get(endpointId);
      if (!endpoint) return null;
      const nowMs = Date.now();
      const deliveryId = made.run(onceId, () => {
        const event = newEvent(TEST_EVENT, nowMs, { customer_email: customerEmail });
        const [id = ''] = dispatcher.accept(JSON.stringify([event]), () => [endpoint], nowMs);
        return id;
      });
      await work.schedule(nowMs);
      return dispatcher.getRecord(endpointId, deliveryId);
    },

    /**
     * Makes a delivery due now with all of its retries. The event's id stays the same. Returns null if there is no such delivery, or
     * its endpoint is disabled: versions of the Worker that run side by side during an update agree on null.
     */
    resend: async (
      endpointId: string,
      deliveryId: string,
      onceId: string | null,
    ): Promise<DeliveryRecord | null> => {
      const nowMs = Date.now();
      const resend = () =>
        (isEnabled(endpointId) && dispatcher.resend(endpointId, deliveryId, nowMs)) || null;
      if (!made.run(onceId, resend)) return null;
      await work.schedule(nowMs);
      return dispatcher.getRecord(endpointId, deliveryId);
    },

    /** Sends failed deliveries again, see `openRepeats`. A repeat of a call that has not sent all sends the others. */
    replay: async (endpointId: string, wanted: Wanted, onceId: string | null): Promise<ReplayResult> => {
      const earlier = made.find(onceId);
      if (earlier) return earlier.result as number;
      let count = 0;
      let page: Replayed | null = { count, next: null };
      do {
        if (!isEnabled(endpointId)) break;
        page = dispatcher.replay(endpointId, wanted, page.next, Date.now());
        if (!page) return count === 0 ? null : { stoppedAfter: count };
        count += page.count;
        await work.schedule(Date.now());
      } while (page.next !== null);
      // A call that was cut off has sent some of them, which are not counted again.
      return made.run(onceId, () => count);
    },
  };
};
