import type { Journal } from '../shared/objects/journal.ts';
import { isoDate } from '../shared/rules/dates.ts';
import type { EventName } from '../shared/rules/events.ts';
import { MAX_REPLAYED_PER_DAY } from '../shared/rules/webhooks.ts';
import type { WebhookEvent } from '../shared/text/events.ts';
import { firstIdAt } from '../shared/text/ids.ts';
import type { Backlog } from './backlog.ts';
import type { Deliveries } from './delivery-store.ts';
import type { Events } from './event-store.ts';
import type { LaneStore } from './lane-store.ts';
import type { Lanes, StoredDelivery } from './outbox-tables.ts';
import type { Pending } from './pending-store.ts';

const CLOCK_SKEW_MS = 60_000;

/** Failed deliveries that are looked at in one transaction. */
const PAGE_SIZE = 500;

/** The events of a replay. */
export interface Wanted {
  sinceMs: number;
  names: EventName[] | null;
}

/** A page of a replay, and after which delivery the next one begins, if there is one. */
export interface Replayed {
  count: number;
  next: string | null;
}

/**
 * How many deliveries a replay sends. Null if the account has replayed as many as it may in a day, and how many it sends still if
 * it stops there. Versions of the Worker that run side by side during an update agree on the number and on null.
 */
export type ReplayResult = number | null | { stoppedAfter: number };

const REPLAYED = 'replayed';

interface Parts {
  kv: SyncKvStorage;
  journal: Pick<Journal, 'write'>;
  update: (before: StoredDelivery, after: StoredDelivery, lanes: Lanes) => void;
  laneStore: LaneStore;
  deliveries: Deliveries;
  pending: Pending;
  backlog: Backlog;
  events: Events;
}

/** Sends deliveries again, each with all of its retries. */
export const openRepeats = ({
  kv,
  journal,
  update,
  laneStore,
  deliveries,
  pending,
  backlog,
  events,
}: Parts) => ({
  /** Makes a delivery due now, and returns whether it exists. */
  resend: (endpointId: string, deliveryId: string, nowMs: number): boolean =>
    journal.write(() => {
      const lanes = laneStore.get(endpointId);
      const delivery = deliveries.get(endpointId, deliveryId, lanes);
      if (!delivery) return false;
      // The oldest of the others fails, not this delivery, which may be older than all of them.
      if (delivery.status !== 'pending') backlog.makeRoom(endpointId, lanes, 1, nowMs);
      const fields = { failures: 0, dueAtMs: nowMs, lease: null, error: null };
      update(delivery, { ...delivery, ...fields, status: 'pending' }, lanes);
      laneStore.save(endpointId, lanes);
      return true;
    }),

  /**
   * Makes a page of failed deliveries of these events due now, in their order. Returns null if the account has replayed as many
   * as it may in a day.
   */
  replay: (
    endpointId: string,
    { sinceMs, names }: Wanted,
    afterId: string | null,
    nowMs: number,
  ): Replayed | null =>
    journal.write(() => {
      const day = isoDate(nowMs);
      const last = kv.get<{ day: string; count: number }>(REPLAYED);
      const replayed = last?.day === day ? last.count : 0;
      if (replayed >= MAX_REPLAYED_PER_DAY) return null;
      // No delivery is older than its event, but for the clocks of the two.
      const first = firstIdAt('dlv', sinceMs - CLOCK_SKEW_MS);
      const failed = deliveries.listFailed(endpointId, afterId ?? first, PAGE_SIZE);
      const isWanted = ({ name, createdAtMs }: WebhookEvent) =>
        createdAtMs >= sinceMs && (names === null || names.some((wanted) => wanted === name));
      const wanted = failed.filter((row) => isWanted(events.get(row.block_id, row.event_id)));
      const lanes = laneStore.get(endpointId);
      backlog.makeRoom(endpointId, lanes, wanted.length, nowMs);
      pending.replay(
        endpointId,
        wanted.map(({ id }) => id),
        nowMs,
      );
      for (const _ of wanted) backlog.track(endpointId, false, true);
      laneStore.save(endpointId, lanes);
      kv.put(REPLAYED, { day, count: replayed + wanted.length });
      return { count: wanted.length, next: failed.length < PAGE_SIZE ? null : (failed.at(-1)?.id ?? null) };
    }),
});
