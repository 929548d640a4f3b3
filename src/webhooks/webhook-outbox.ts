import { DurableObject } from 'cloudflare:workers';
import { DAY_MS } from '../shared/rules/dates.ts';
import { newEvent } from '../shared/events.ts';
import { TEST_EVENT } from '../shared/rules/events.ts';
import { logError } from '../shared/log.ts';
import { migrateObject } from '../shared/object-migrations.ts';
import { storedAccountId } from '../shared/stored-account-id.ts';
import { openDeliveries } from './delivery-store.ts';
import { openEndpoints, withChanges, withSecret } from './endpoint-store.ts';
import { openGateSubscription } from './gate-subscription.ts';
import { HINT_TIMEOUT_MS, openHints } from './hints.ts';
import { openHourlyCounts } from './hours.ts';
import type { Job, SettledJob } from './jobs.ts';
import { openLanes } from './lanes.ts';
import { applyOutcome, type Outcome } from './outcome.ts';
import { type DeliveryRecord, type DisabledReason, type Endpoint, type Summary } from './outbox-tables.ts';
import { OUTBOX_STEPS } from './outbox-steps.ts';
import { openRetention } from './retention.ts';

const FIRST_ENDPOINT_AT = 'first_endpoint_at';

/**
 * Stores an account's webhook endpoints, events, deliveries and attempts. A pending delivery is a row here, and
 * a queue message is only a hint that an endpoint has deliveries due.
 */
export class WebhookOutbox extends DurableObject<Env> {
  readonly #accountId: string;
  readonly #endpoints;
  readonly #deliveries;
  readonly #hourlyCounts;
  readonly #lanes;
  readonly #hints;
  readonly #retention;
  readonly #gate;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrateObject(ctx.storage, OUTBOX_STEPS);
    this.#accountId = storedAccountId(ctx);
    this.#endpoints = openEndpoints(ctx.storage.sql);
    this.#deliveries = openDeliveries(ctx.storage.sql, this.#accountId);
    this.#lanes = openLanes(this.#deliveries);
    this.#hourlyCounts = openHourlyCounts(ctx.storage.sql);
    this.#hints = openHints(env.WEBHOOKS, this.#accountId);
    this.#retention = openRetention(ctx.storage.sql);
    this.#gate = openGateSubscription({
      env,
      accountId: this.#accountId,
      storage: ctx.storage,
      endpoints: this.#endpoints,
      setAlarmBy: (ms) => this.#setAlarmBy(ms),
    });
  }

  /** Inserts events from the gate, a JSON array, and enqueues deliveries. Ignores events that it already has. */
  async accept(events: string): Promise<{ wantsVerified: boolean }> {
    const nowMs = Date.now();
    // In one transaction: an event without its deliveries would be ignored when the gate sends it again.
    this.ctx.storage.transactionSync(() => {
      const deliveries = this.#deliveries.insertEvents(events).flatMap(({ id: eventId, name }) => {
        if (name === TEST_EVENT) return [];
        return this.#endpoints.listSubscribedTo(name).map(({ id }) => ({ endpointId: id, eventId }));
      });
      this.#deliveries.enqueue(deliveries, nowMs);
    });
    await this.#scheduleWork(nowMs);
    return { wantsVerified: this.#gate.wantsVerified() };
  }

  /** Leases deliveries that are due to the caller, up to the number of free lanes. */
  claim(endpointId: string): Job[] {
    const nowMs = Date.now();
    this.#hints.markReceived(endpointId);
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint || endpoint.disabledReason) return [];
    return this.#lanes.take(endpoint, nowMs);
  }

  /** Records an attempt. Leases the endpoint's next delivery to the caller if `wantsMore` is true. */
  async settle(
    endpointId: string,
    { deliveryId, lease, urlRevision = 0 }: SettledJob,
    outcome: Outcome,
    wantsMore: boolean,
  ): Promise<Job | null> {
    const nowMs = Date.now();
    const endpoint = this.#endpoints.get(endpointId);
    const delivery = this.#deliveries.get(endpointId, deliveryId);
    if (!delivery || !endpoint) return null;
    this.#deliveries.insertAttempt(deliveryId, outcome);
    this.#hourlyCounts.add(outcome.ok, nowMs);
    const change = applyOutcome(delivery, { lease, urlRevision }, endpoint, outcome, {
      nowMs,
      random: Math.random(),
    });
    if (change.delivery) this.#deliveries.update(change.delivery);
    if (change.failingSinceMs !== endpoint.failingSinceMs) {
      this.#endpoints.save({ ...endpoint, failingSinceMs: change.failingSinceMs });
    }
    if (change.disable) await this.#disable(endpoint.id, change.disable);
    const [job = null] = wantsMore && !change.disable ? this.#lanes.take(endpoint, nowMs, 1) : [];
    await this.#scheduleWork(nowMs);
    return job;
  }

  getEndpoint(id: string): Endpoint | null {
    return this.#endpoints.get(id);
  }

  listEndpoints(): Endpoint[] {
    return this.#endpoints.listNewestFirst();
  }

  /** Returns false at the limit. An endpoint that was added already is not added again. */
  async addEndpoint(endpoint: Endpoint, limit: number): Promise<boolean> {
    return this.#gate.save(endpoint, () => {
      if (this.#endpoints.get(endpoint.id)) return true;
      if (this.#endpoints.count() >= limit) return false;
      this.#endpoints.save(endpoint);
      const { kv } = this.ctx.storage;
      if (!kv.get(FIRST_ENDPOINT_AT)) kv.put(FIRST_ENDPOINT_AT, endpoint.createdAtMs);
      return true;
    });
  }

  async updateEndpoint(id: string, fields: Partial<Endpoint>): Promise<Endpoint | null> {
    const known = this.#endpoints.get(id);
    if (!known) return null;
    return this.#gate.save(withChanges(known, fields), () => {
      const current = this.#endpoints.get(id);
      if (!current) return null;
      const endpoint = withChanges(current, fields);
      this.#endpoints.save(endpoint);
      if (endpoint.disabledReason) this.#deliveries.cancelPending(id);
      return endpoint;
    });
  }

  /** Replaces the secret in one turn, so that parallel rotations keep each other's secret. */
  rotateSecret(id: string, sealedSecret: string): Endpoint | null {
    const current = this.#endpoints.get(id);
    if (!current) return null;
    const endpoint = withSecret(current, sealedSecret, Date.now());
    this.#endpoints.save(endpoint);
    return endpoint;
  }

  async deleteEndpoint(id: string): Promise<boolean> {
    if (!this.#endpoints.get(id)) return false;
    this.#endpoints.remove(id);
    this.#deliveries.deleteByEndpoint(id);
    await this.#gate.updateAfterChange();
    return true;
  }

  /** Creates a test event and delivers it to this endpoint only. */
  async sendTest(endpointId: string, customerEmail: string): Promise<DeliveryRecord | null> {
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint) return null;
    const nowMs = Date.now();
    const event = newEvent(TEST_EVENT, nowMs, { customer_email: customerEmail });
    this.#deliveries.insertEvents(JSON.stringify([event]));
    const [id = ''] = this.#deliveries.enqueue([{ endpointId, eventId: event.id }], nowMs);
    await this.#scheduleWork(nowMs);
    return this.#deliveries.getRecord(endpointId, id);
  }

  listDeliveries(endpointId: string, limit: number, beforeId: string | null): DeliveryRecord[] | null {
    return this.#endpoints.get(endpointId) ? this.#deliveries.listPage(endpointId, limit, beforeId) : null;
  }

  /** Makes a delivery due now with all of its retries. The event's id stays the same. */
  async resend(endpointId: string, deliveryId: string): Promise<DeliveryRecord | null> {
    const delivery = this.#deliveries.get(endpointId, deliveryId);
    if (!delivery) return null;
    const nowMs = Date.now();
    this.#deliveries.update({
      ...delivery,
      status: 'pending',
      failures: 0,
      dueAtMs: nowMs,
      lease: null,
      error: null,
    });
    await this.#scheduleWork(nowMs);
    return this.#deliveries.getRecord(endpointId, deliveryId);
  }

  summary(): Summary {
    const { delivered, failed } = this.#hourlyCounts.sumLastDay(Date.now());
    return {
      endpoints: this.#endpoints.count(),
      delivered24h: delivered,
      failed24h: failed,
      recentEvents: this.#deliveries.recentEvents(10),
      firstEndpointAtMs: this.ctx.storage.kv.get<number>(FIRST_ENDPOINT_AT) ?? null,
    };
  }

  /** Catches errors and sets the next alarm itself, because the runtime retries a failed alarm only six times. */
  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    try {
      await this.#gate.update();
      if (this.#retention.sweep(nowMs)) await this.#setAlarmBy(nowMs + 1);
      await this.#scheduleWork(nowMs);
    } catch (error) {
      logError('outbox_alarm_failed', error, { account_id: this.#accountId });
      await this.ctx.storage.setAlarm(nowMs + HINT_TIMEOUT_MS);
    }
  }

  async #disable(endpointId: string, disabledReason: DisabledReason): Promise<void> {
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint) return;
    this.#endpoints.save({ ...endpoint, disabledReason });
    this.#deliveries.cancelPending(endpointId);
    await this.#gate.updateAfterChange();
  }

  /** Sends a hint for each endpoint that has deliveries due, and sets the alarm for the next check. */
  async #scheduleWork(nowMs: number): Promise<void> {
    let nextCheckMs = this.#deliveries.isEmpty() ? Infinity : nowMs + DAY_MS;
    for (const endpoint of this.#endpoints.listEnabled()) {
      const dueMs = this.#deliveries.nextDueMs(endpoint.id);
      if (dueMs === null) continue;
      // If every lane is busy, each lane takes the next due delivery when its attempt ends.
      if (dueMs <= nowMs && this.#lanes.countFree(endpoint, nowMs) > 0)
        await this.#hints.send(endpoint.id, nowMs);
      nextCheckMs = Math.min(nextCheckMs, dueMs <= nowMs ? nowMs + HINT_TIMEOUT_MS : dueMs);
    }
    await this.#setAlarmBy(nextCheckMs);
  }

  /** Sets the alarm, unless an earlier alarm is set. */
  async #setAlarmBy(ms: number): Promise<void> {
    const currentMs = (await this.ctx.storage.getAlarm()) ?? Infinity;
    if (ms < currentMs) await this.ctx.storage.setAlarm(ms);
  }
}
