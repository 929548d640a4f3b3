import { isDeepStrictEqual } from 'node:util';
import type { ObjectContext } from '../shared/objects/context.ts';
import { ownValue } from '../shared/objects/own-values.ts';
import { dropStage } from '../shared/objects/stage.ts';
import type { WebhookEvent } from '../shared/text/events.ts';
import { newId } from '../shared/text/ids.ts';
import { openBacklog } from './backlog.ts';
import { openDeliveries } from './delivery-store.ts';
import type { Endpoints } from './endpoint-store.ts';
import { type ErasedPage, type ErasedSubjects, openEventErasure } from './erase-events.ts';
import type { Events } from './event-store.ts';
import { openHourlyCounts } from './hours.ts';
import type { DeliveryJob, SettledJob } from './jobs.ts';
import { openLaneStore } from './lane-store.ts';
import { countFreeLanes, LEASE_MS, MAX_LANES, nextWidth, openLanes } from './lanes.ts';
import type { Listening } from './listening.ts';
import type { DeliveryRecord, DisabledReason, Endpoint, Lanes, StoredDelivery } from './outbox-tables.ts';
import { applyOutcome, type Outcome } from './outcome.ts';
import { openPending } from './pending-store.ts';
import { openRepeats } from './repeats.ts';

/** Older attempts of a delivery are dropped, because a row is limited to 2 MB. */
const MAX_ATTEMPTS = 100;

const ERASED_AT = ownValue('erased_at_ms');

const DUE = { status: 'pending', error: null } as const;
/** Of an endpoint that is disabled. */
const MISSED = { status: 'failed', error: 'the webhook was disabled' } as const;

const withAttempt = (
  delivery: StoredDelivery,
  { atMs, statusCode, error, durationMs, response }: Outcome,
): StoredDelivery => {
  const earlier = delivery.attempts.filter((attempt) => attempt.atMs !== atMs).slice(1 - MAX_ATTEMPTS);
  return { ...delivery, attempts: [...earlier, { atMs, statusCode, error, durationMs, response }] };
};

/** Whether all of these were taken for the first time. */
const areFirst = (jobs: DeliveryJob[], takenThrough: string) =>
  jobs.every(({ deliveryId }) => deliveryId > takenThrough);

/** Creates deliveries, leases them and records their outcomes. Each change is a transaction. */
export const openDispatcher = (
  { ctx, accountId, journal }: ObjectContext,
  events: Events,
  endpoints: Endpoints,
  listening: Listening,
) => {
  const { sql, kv } = ctx.storage;
  const laneStore = openLaneStore(sql);
  const deliveries = openDeliveries(sql, events);
  const pending = openPending(sql);
  const backlog = openBacklog(pending, accountId);
  const hourlyCounts = openHourlyCounts(sql);
  const { take } = openLanes(deliveries, pending, events);
  const eraseEvents = openEventErasure({ events, endpoints, deliveries, pending, laneStore });
  /** An attempt that began before a customer was erased may have sent their address, and the response may repeat it. */
  let forgetsUntilMs = (kv.get<number>(ERASED_AT) ?? -Infinity) + LEASE_MS;

  /** Stores a changed delivery, which is not leased. */
  const update = (before: StoredDelivery, after: StoredDelivery, lanes: Lanes) => {
    const isPending = after.status === 'pending';
    pending.remove(before, lanes);
    deliveries.save(after);
    if (isPending) pending.add(after, lanes);
    backlog.track(after.endpointId, before.status === 'pending', isPending);
  };

  /** A delivery as it is shown: a Retry-After of its endpoint delays it. */
  const withHold = (delivery: DeliveryRecord): DeliveryRecord => {
    const heldUntilMs = endpoints.get(delivery.endpointId)?.heldUntilMs ?? 0;
    return { ...delivery, dueAtMs: Math.max(delivery.dueAtMs, heldUntilMs) };
  };

  const cancelPending = (endpointId: string, lanes: Lanes) => {
    pending.cancel(endpointId, lanes);
    backlog.forget();
  };

  /** Inserts a block of events with deliveries that are due now. Returns the deliveries' ids. */
  const insertBlock = (
    block: WebhookEvent[],
    endpointsOf: (event: WebhookEvent) => Endpoint[],
    nowMs: number,
  ): string[] => {
    const added = block.flatMap((event) =>
      endpointsOf(event).map(({ id, disabledReason }) => ({
        endpointId: id,
        id: newId('dlv'),
        eventId: event.id,
        ...(disabledReason === null ? DUE : MISSED),
      })),
    );
    for (const [endpointId, ofEndpoint] of Map.groupBy(added, (delivery) => delivery.endpointId)) {
      const lanes = laneStore.get(endpointId);
      if (ofEndpoint[0]?.status === MISSED.status) {
        lanes.takenThrough = ofEndpoint.reduce((last, { id }) => (id > last ? id : last), lanes.takenThrough);
        laneStore.save(endpointId, lanes);
        continue;
      }
      const hasFailed = backlog.makeRoom(endpointId, lanes, ofEndpoint.length, nowMs);
      const isLate = ofEndpoint.some(({ id }) => id <= lanes.takenThrough);
      if (hasFailed || isLate) laneStore.save(endpointId, lanes);
      for (const { id } of ofEndpoint) pending.add({ endpointId, id, dueAtMs: nowMs }, lanes);
      backlog.add(endpointId, ofEndpoint.length);
    }
    const ids = added.map(({ id }) => id);
    const blockId = events.insertBlock(block, ids);
    listening.record(blockId, block, nowMs);
    deliveries.insert(added, blockId, nowMs);
    return ids;
  };

  return {
    /** Inserts the new events of a JSON array, and deliveries to the endpoints that subscribe to them. */
    accept: (json: string, endpointsOf: (event: WebhookEvent) => Endpoint[], nowMs: number): string[] =>
      journal.write(() => events.newBlocks(json).flatMap((block) => insertBlock(block, endpointsOf, nowMs))),

    /** Leases deliveries that are due, up to the number of free lanes. */
    claim: (endpoint: Endpoint, nowMs: number): DeliveryJob[] =>
      journal.write(() => {
        const lanes = laneStore.get(endpoint.id);
        const takenBefore = lanes.takenThrough;
        const jobs = take(endpoint, lanes, nowMs);
        if (areFirst(jobs, takenBefore)) laneStore.keep(endpoint.id, lanes, jobs.length);
        else laneStore.save(endpoint.id, lanes);
        return jobs;
      }),

    /** Records an attempt, and leases the endpoint's next delivery if `wantsMore` is true. */
    settle: (
      endpoint: Endpoint,
      { deliveryId, lease, urlRevision = 0 }: SettledJob,
      outcome: Outcome,
      wantsMore: boolean,
      nowMs: number,
    ): { job: DeliveryJob | null; disabled: DisabledReason | null } =>
      journal.write(() => {
        const lanes = laneStore.get(endpoint.id);
        const { takenThrough, hour } = lanes;
        const found = deliveries.get(endpoint.id, deliveryId, lanes);
        if (!found) return { job: null, disabled: null };
        const isAdopted = pending.adopt(found, lease, lanes, nowMs);
        const delivery = isAdopted ? { ...found, lease } : found;
        const isForgotten = outcome.atMs < forgetsUntilMs;
        const attempted = withAttempt(delivery, isForgotten ? { ...outcome, response: null } : outcome);
        const at = { nowMs, random: Math.random() };
        const change = applyOutcome(attempted, { lease, urlRevision }, endpoint, outcome, at);
        if (change.delivery) update(delivery, change.delivery, lanes);
        else deliveries.save(attempted);
        // The attempt was recorded already if the platform repeats this call.
        const isRepeat = delivery.attempts.some(({ atMs }) => atMs === outcome.atMs);
        if (!isRepeat) hourlyCounts.add(lanes, outcome.ok, nowMs);
        if (!isRepeat && urlRevision === endpoint.urlRevision)
          lanes.width = nextWidth(lanes.width, outcome.ok);
        const { health, disable } = change;
        const isDisabled = disable !== null && endpoint.disabledReason === null;
        const disabled = isDisabled ? { disabledReason: disable, disabledAtMs: nowMs } : {};
        const changed: Endpoint = { ...endpoint, ...health, ...disabled };
        if (disable) cancelPending(endpoint.id, lanes);
        const jobs = wantsMore && !disable ? take(changed, lanes, nowMs, 1) : [];
        const isPlain = outcome.ok && delivery.lease !== null && !isAdopted && hour === lanes.hour;
        if (isPlain && areFirst(jobs, takenThrough)) laneStore.keep(endpoint.id, lanes, jobs.length);
        else laneStore.save(endpoint.id, lanes);
        if (!isDeepStrictEqual(changed, endpoint)) endpoints.save(changed);
        return { job: jobs[0] ?? null, disabled: isDisabled ? disable : null };
      }),

    /** Erases events, see `openEventErasure`, and what a restore has only staged. */
    erase: (subjects: ErasedSubjects, afterId: string, nowMs: number): ErasedPage =>
      journal.write(() => {
        if (afterId === '') dropStage(ctx.storage);
        backlog.forget();
        if (subjects.emails.length > 0) {
          kv.put(ERASED_AT, nowMs);
          forgetsUntilMs = nowMs + LEASE_MS;
        }
        return eraseEvents(subjects, afterId);
      }),

    ...openRepeats({ kv, journal, update, laneStore, deliveries, pending, backlog, events }),

    /** Saves a changed endpoint. A new URL starts afresh, with retries that are due now. Disabling cancels them. */
    saveEndpoint: (before: Endpoint, after: Endpoint, nowMs: number) =>
      journal.write(() => {
        const lanes = laneStore.get(after.id);
        if (after.urlRevision !== before.urlRevision) {
          lanes.width = MAX_LANES;
          pending.restart(after.id, nowMs);
        }
        if (after.disabledReason) cancelPending(after.id, lanes);
        laneStore.save(after.id, lanes);
        endpoints.save(after);
      }),

    removeEndpoint: (id: string) =>
      journal.write(() => {
        hourlyCounts.close(laneStore.get(id));
        laneStore.remove(id);
        deliveries.deleteByEndpoint(id);
        backlog.forget();
        endpoints.remove(id);
      }),

    /**
     * Returns when the endpoint's next delivery is due and a lane is free for it. While every lane is busy, each lane takes the
     * next delivery when its attempt ends, and is free at the end of its lease if its consumer has died.
     */
    nextDueMs: (endpoint: Endpoint, nowMs: number): number => {
      const lanes = laneStore.get(endpoint.id);
      const dueMs = Math.max(pending.nextDueMs(endpoint.id, lanes), endpoint.heldUntilMs ?? 0);
      if (dueMs > nowMs || countFreeLanes(endpoint, lanes, nowMs) > 0) return dueMs;
      return Math.min(...lanes.leases.map(({ untilMs }) => untilMs).filter((untilMs) => untilMs > nowMs));
    },

    /** Counts the attempts of the last 24 hours, successful and failed. */
    sumLastDay: (nowMs: number) =>
      hourlyCounts.sumLastDay(
        endpoints.listNewestFirst().map(({ id }) => laneStore.get(id)),
        nowMs,
      ),

    countWaiting: (endpointId: string, sinceMs: number, limit: number): number =>
      pending.countWaiting(endpointId, laneStore.get(endpointId), sinceMs, limit),

    getRecord: (endpointId: string, id: string): DeliveryRecord | null => {
      const record = deliveries.getRecord(endpointId, id, laneStore.get(endpointId));
      return record && withHold(record);
    },

    /** Returns a page of deliveries, newest first. */
    listPage: (endpointId: string, limit: number, beforeId: string | null): DeliveryRecord[] =>
      deliveries.listPage(endpointId, limit, beforeId, laneStore.get(endpointId)).map(withHold),
  };
};

export type Dispatcher = ReturnType<typeof openDispatcher>;
