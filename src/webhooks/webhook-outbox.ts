import { DurableObject } from 'cloudflare:workers';
import { gateOf } from '../shared/objects.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { newEvent } from '../shared/events.ts';
import { TEST_EVENT } from '../shared/rules/events.ts';
import { logError } from '../shared/log.ts';
import { migrateObject } from '../shared/object-migrations.ts';
import { storedAccountId } from '../shared/stored-account-id.ts';
import { coalesce } from '../shared/coalesce.ts';
import { openDeliveries } from './delivery-store.ts';
import { openEndpoints } from './endpoint-store.ts';
import { HINT_PATIENCE_MS, openHints } from './hints.ts';
import { openHours } from './hours.ts';
import type { Job } from './jobs.ts';
import { openLanes } from './lanes.ts';
import { type Outcome, settled } from './outcome.ts';
import { type DeliveryRecord, type DisabledReason, type Endpoint, type Summary } from './outbox-tables.ts';
import { OUTBOX_STEPS } from './outbox-steps.ts';
import { openRetention } from './retention.ts';

const TOLD_GATE = 'told_gate';
const FIRST_ENDPOINT_AT = 'first_endpoint_at';

/**
 * One per account: endpoints, events, deliveries and their attempts. What is to be sent is a row here until
 * it is settled; a queue message is only a hint that an endpoint has something due.
 */
export class WebhookOutbox extends DurableObject<Env> {
  readonly #accountId: string;
  readonly #endpoints;
  readonly #deliveries;
  readonly #hours;
  readonly #lanes;
  readonly #hints;
  readonly #retention;
  readonly #tellGate;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrateObject(ctx.storage, OUTBOX_STEPS);
    this.#accountId = storedAccountId(ctx);
    this.#endpoints = openEndpoints(ctx.storage.sql);
    this.#deliveries = openDeliveries(ctx.storage.sql);
    this.#lanes = openLanes(this.#deliveries);
    this.#hours = openHours(ctx.storage.sql);
    this.#hints = openHints(env.WEBHOOKS, this.#accountId);
    this.#retention = openRetention(ctx.storage.sql);
    // One after the other: told out of turn, the gate would be left with the older word.
    this.#tellGate = coalesce(() => this.#tellGateNow());
  }

  /** Takes over the gate's events, a JSON list. Each is known by its id, so that a second hand-over changes nothing. */
  async accept(events: string): Promise<{ wantsVerified: boolean }> {
    const nowMs = Date.now();
    // Both or neither: an event without its deliveries would pass for done when it is handed over again.
    this.ctx.storage.transactionSync(() => {
      const wanted = this.#deliveries.addEvents(events).flatMap(({ id: eventId, name }) => {
        if (name === TEST_EVENT) return [];
        return this.#endpoints.subscribedTo(name).map(({ id }) => ({ endpointId: id, eventId }));
      });
      this.#deliveries.add(wanted, nowMs);
    });
    await this.#workOn(nowMs);
    return { wantsVerified: this.#wantsVerified() };
  }

  /** Up to as many deliveries as may be tried at once, leased to the caller. */
  claim(endpointId: string): Job[] {
    const nowMs = Date.now();
    this.#hints.followed(endpointId);
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint || endpoint.disabledReason) return [];
    return this.#lanes.take(endpoint, nowMs);
  }

  /** What became of an attempt. Gives the next delivery of this endpoint to the caller who wants one. */
  async settle(
    endpointId: string,
    { deliveryId, lease }: Pick<Job, 'deliveryId' | 'lease'>,
    outcome: Outcome,
    wantsMore: boolean,
  ): Promise<Job | null> {
    const nowMs = Date.now();
    const endpoint = this.#endpoints.get(endpointId);
    const delivery = this.#deliveries.get(endpointId, deliveryId);
    if (!delivery || !endpoint) return null;
    this.#deliveries.logAttempt(deliveryId, outcome);
    this.#hours.count(outcome.ok, nowMs);
    const after = settled(delivery, lease, endpoint, outcome, { nowMs, random: Math.random() });
    if (after.delivery) this.#deliveries.update(after.delivery);
    if (after.failingSinceMs !== endpoint.failingSinceMs) {
      this.#endpoints.save({ ...endpoint, failingSinceMs: after.failingSinceMs });
    }
    if (after.disable) await this.#disable(endpoint.id, after.disable);
    const [job = null] = wantsMore && !after.disable ? this.#lanes.take(endpoint, nowMs, 1) : [];
    await this.#workOn(nowMs);
    return job;
  }

  getEndpoint(id: string): Endpoint | null {
    return this.#endpoints.get(id);
  }

  listEndpoints(): Endpoint[] {
    return this.#endpoints.newestFirst();
  }

  /** False if there are enough. Returns when the gate knows what is wanted, so that no verify is missed. */
  async addEndpoint(endpoint: Endpoint, mostOf: number): Promise<boolean> {
    if (this.#endpoints.count() >= mostOf) return false;
    this.#endpoints.save(endpoint);
    const { kv } = this.ctx.storage;
    if (!kv.get(FIRST_ENDPOINT_AT)) kv.put(FIRST_ENDPOINT_AT, endpoint.createdAtMs);
    await this.#tellGate();
    return true;
  }

  async changeEndpoint(id: string, fields: Partial<Endpoint>): Promise<Endpoint | null> {
    const before = this.#endpoints.get(id);
    if (!before) return null;
    const endpoint = { ...before, ...fields };
    this.#endpoints.save(endpoint);
    if (endpoint.disabledReason) this.#deliveries.giveUp(id);
    await this.#tellGate();
    return endpoint;
  }

  async deleteEndpoint(id: string): Promise<boolean> {
    if (!this.#endpoints.get(id)) return false;
    this.#endpoints.remove(id);
    this.#deliveries.removeEndpoint(id);
    await this.#tellGate();
    return true;
  }

  /** An event that goes to this endpoint alone. */
  async sendTest(endpointId: string, customerEmail: string): Promise<DeliveryRecord | null> {
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint) return null;
    const nowMs = Date.now();
    const event = newEvent(TEST_EVENT, nowMs, { customer_email: customerEmail });
    this.#deliveries.addEvents(JSON.stringify([event]));
    const [id = ''] = this.#deliveries.add([{ endpointId, eventId: event.id }], nowMs);
    await this.#workOn(nowMs);
    return this.#deliveries.record(endpointId, id);
  }

  listDeliveries(endpointId: string, limit: number, beforeId: string | null): DeliveryRecord[] | null {
    return this.#endpoints.get(endpointId) ? this.#deliveries.page(endpointId, limit, beforeId) : null;
  }

  /** Due at once and with all its retries anew; the event's id stays what it was. */
  async resend(endpointId: string, deliveryId: string): Promise<DeliveryRecord | null> {
    const delivery = this.#deliveries.get(endpointId, deliveryId);
    if (!delivery) return null;
    const nowMs = Date.now();
    this.#deliveries.update({ ...delivery, status: 'pending', failures: 0, dueAtMs: nowMs, lease: null });
    await this.#workOn(nowMs);
    return this.#deliveries.record(endpointId, deliveryId);
  }

  summary(): Summary {
    const { delivered, failed } = this.#hours.lastDay(Date.now());
    return {
      endpoints: this.#endpoints.count(),
      delivered24h: delivered,
      failed24h: failed,
      recentEvents: this.#deliveries.recentEvents(10),
      firstEndpointAtMs: this.ctx.storage.kv.get<number>(FIRST_ENDPOINT_AT) ?? null,
    };
  }

  /** An alarm that throws is retried six times and never again, so it catches and arms itself anew. */
  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    try {
      await this.#tellGate();
      if (this.#retention.sweep(nowMs)) await this.#wakeBy(nowMs + 1);
      await this.#workOn(nowMs);
    } catch (error) {
      logError('outbox_alarm_failed', error, { account_id: this.#accountId });
      await this.ctx.storage.setAlarm(nowMs + HINT_PATIENCE_MS);
    }
  }

  async #disable(endpointId: string, disabledReason: DisabledReason): Promise<void> {
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint) return;
    this.#endpoints.save({ ...endpoint, disabledReason });
    this.#deliveries.giveUp(endpointId);
    await this.#tellGate();
  }

  #wantsVerified(): boolean {
    return this.#endpoints.subscribedTo('license.verified').length > 0;
  }

  /** The gate makes `license.verified` only while somebody wants it. */
  async #tellGateNow(): Promise<void> {
    const wanted = this.#wantsVerified();
    if (this.ctx.storage.kv.get<boolean>(TOLD_GATE) === wanted) return;
    // Until the gate has heard it, a restart must not take it for told.
    this.ctx.storage.kv.delete(TOLD_GATE);
    await this.#wakeBy(Date.now() + HINT_PATIENCE_MS);
    await gateOf(this.env, this.#accountId).setWantsVerified(wanted);
    this.ctx.storage.kv.put(TOLD_GATE, wanted);
  }

  /** Hints at each endpoint that has something due, and sets the alarm to when to look again. */
  async #workOn(nowMs: number): Promise<void> {
    let lookMs = this.#deliveries.isEmpty() ? Infinity : nowMs + DAY_MS;
    for (const endpoint of this.#endpoints.enabled()) {
      const dueMs = this.#deliveries.nextDueMs(endpoint.id);
      if (dueMs === null) continue;
      // Where every lane is taken, each goes on with what is due when it settles.
      if (dueMs <= nowMs && this.#lanes.free(endpoint, nowMs) > 0) await this.#hints.send(endpoint.id, nowMs);
      lookMs = Math.min(lookMs, dueMs <= nowMs ? nowMs + HINT_PATIENCE_MS : dueMs);
    }
    await this.#wakeBy(lookMs);
  }

  /** Never later than it was. */
  async #wakeBy(ms: number): Promise<void> {
    const armedMs = (await this.ctx.storage.getAlarm()) ?? Infinity;
    if (ms < armedMs) await this.ctx.storage.setAlarm(ms);
  }
}
