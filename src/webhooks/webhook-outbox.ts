import { DurableObject } from 'cloudflare:workers';
import type { Backup, BackupCall, BackupReply } from '../shared/objects/backup.ts';
import { openObject } from '../shared/objects/context.ts';
import { eraseObject } from '../shared/objects/erase.ts';
import { migrateObject } from '../shared/objects/migrations.ts';
import { allowRetries } from '../shared/objects/retries.ts';
import { storedName } from '../shared/objects/stored-name.ts';
import { TEST_EVENT } from '../shared/rules/events.ts';
import type { WebhookEvent } from '../shared/text/events.ts';
import { openDispatcher } from './dispatcher.ts';
import { openEndpoints } from './endpoint-store.ts';
import type { ErasedPage, ErasedSubjects } from './erase-events.ts';
import { openEvents } from './event-store.ts';
import { openGateSubscription } from './gate-subscription.ts';
import type { DeliveryJob, SettledJob } from './jobs.ts';
import { type Arrivals, openListening } from './listening.ts';
import { openOutboxBackup } from './outbox-backup.ts';
import type { DeliveryRecord, Endpoint, Summary } from './outbox-tables.ts';
import type { Outcome } from './outcome.ts';
import { disabledWebhook, mailedEvents, mayConcernOwner, openOwnerMails } from './owner-mails.ts';
import { REPEATABLE } from './repeatable.ts';
import type { ReplayResult, Wanted } from './repeats.ts';
import { openRetention } from './retention.ts';
import { openSellerCalls } from './seller-calls.ts';
import { OUTBOX_TABLES } from './tables.ts';
import { readWait } from './wait.ts';
import { openWork } from './work.ts';

/**
 * Stores an account's webhook endpoints, events, deliveries and attempts. A pending delivery is a row here, and
 * a queue message is only a hint that an endpoint has deliveries due.
 */
export class WebhookOutbox extends DurableObject<Env> {
  static {
    allowRetries(this.prototype, [...REPEATABLE]);
  }

  readonly #object;
  readonly #endpoints;
  readonly #events;
  readonly #listening;
  readonly #dispatcher;
  readonly #work;
  readonly #gate;
  readonly #ownerMails;
  readonly #seller;
  readonly #backup: Backup;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { storage } = ctx;
    migrateObject(storage, OUTBOX_TABLES);
    const accountId = storedName(ctx);
    const object = (this.#object = openObject(ctx, env, accountId));
    this.#backup = openOutboxBackup(object);
    const endpoints = (this.#endpoints = openEndpoints(storage.sql));
    const events = (this.#events = openEvents(storage.sql));
    const listening = (this.#listening = openListening(object));
    const dispatcher = openDispatcher(object, events, endpoints, listening);
    this.#dispatcher = dispatcher;
    this.#gate = openGateSubscription(object, endpoints, listening);
    this.#ownerMails = openOwnerMails(object);
    openRetention(object, events);
    this.#work = openWork(object, endpoints, dispatcher);
    this.#seller = openSellerCalls(object, endpoints, dispatcher, this.#gate, this.#work);
  }

  /** Inserts events from the gate, a JSON array, and enqueues deliveries. Ignores events that it already has. */
  async accept(events: string): Promise<{ wantsVerified: boolean }> {
    const nowMs = Date.now();
    const forOwner = mayConcernOwner(events) ? this.#events.newBlocks(events).flat() : [];
    const endpointsOf = ({ name }: WebhookEvent) =>
      name === TEST_EVENT ? [] : this.#endpoints.listSubscribedTo(name, nowMs);
    this.#object.journal.write(() => {
      this.#dispatcher.accept(events, endpointsOf, nowMs);
      this.#ownerMails.add(mailedEvents(forOwner));
    });
    await this.#work.schedule(nowMs);
    return { wantsVerified: this.#gate.wantsVerified() };
  }

  /** Leases deliveries that are due to the caller, up to the number of free lanes. */
  claim(endpointId: string): DeliveryJob[] {
    const nowMs = Date.now();
    this.#work.markReceived(endpointId);
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint || endpoint.disabledReason) return [];
    return this.#dispatcher.claim(endpoint, nowMs);
  }

  /** Records an attempt. Leases the endpoint's next delivery to the caller if `wantsMore` is true. */
  async settle(
    endpointId: string,
    settled: SettledJob,
    outcome: Outcome,
    wantsMore: boolean,
  ): Promise<DeliveryJob | null> {
    const nowMs = Date.now();
    const endpoint = this.#endpoints.get(endpointId);
    if (!endpoint) return null;
    const { job, disabled } = this.#object.journal.write(() => {
      const result = this.#dispatcher.settle(endpoint, settled, outcome, wantsMore, nowMs);
      if (result.disabled) this.#ownerMails.add([disabledWebhook(endpoint.url, result.disabled)]);
      return result;
    });
    if (disabled) await this.#gate.updateAfterChange();
    await this.#work.schedule(nowMs);
    return job;
  }

  getEndpoint(id: string): Endpoint | null {
    return this.#endpoints.get(id);
  }

  listEndpoints(): Endpoint[] {
    return this.#endpoints.listNewestFirst();
  }

  // With the same `onceId`, each of these changes is made once.

  addEndpoint(endpoint: Endpoint, limit: number, onceId: string | null = null): Promise<boolean> {
    return this.#seller.addEndpoint(endpoint, limit, onceId);
  }

  updateEndpoint(id: string, fields: Partial<Endpoint>, onceId: string | null = null) {
    return this.#seller.updateEndpoint(id, fields, onceId);
  }

  rotateSecret(id: string, sealedSecret: string, onceId: string | null = null): Endpoint | null {
    return this.#seller.rotateSecret(id, sealedSecret, onceId);
  }

  sendTest(endpointId: string, customerEmail: string, onceId: string | null = null) {
    return this.#seller.sendTest(endpointId, customerEmail, onceId);
  }

  resend(endpointId: string, deliveryId: string, onceId: string | null = null) {
    return this.#seller.resend(endpointId, deliveryId, onceId);
  }

  replay(endpointId: string, wanted: Wanted, onceId: string | null = null): Promise<ReplayResult> {
    return this.#seller.replay(endpointId, wanted, onceId);
  }

  /** Replaces sealed secrets by the same secrets under another sealing key, wherever an endpoint still has them. */
  replaceSealed(replacements: [sealed: string, resealed: string][]): void {
    this.#object.journal.write(() => this.#endpoints.reseal(new Map(replacements)));
  }

  async deleteEndpoint(id: string): Promise<boolean> {
    if (!this.#endpoints.get(id)) return false;
    this.#dispatcher.removeEndpoint(id);
    await this.#gate.updateAfterChange();
    return true;
  }

  listDeliveries(endpointId: string, limit: number, beforeId: string | null): DeliveryRecord[] | null {
    return this.#endpoints.get(endpointId) ? this.#dispatcher.listPage(endpointId, limit, beforeId) : null;
  }

  /**
   * Returns the events that arrived after the cursor, or null if the cursor has expired. Without a cursor, it starts to
   * listen and returns the first cursor. From then on, the gate creates `license.verified` events, unless no client wants them.
   */
  async listen(cursor: number | null, verified = true): Promise<Arrivals | null> {
    const after = this.#listening.renew(cursor, verified, Date.now());
    if (after === null) return null;
    await this.#object.alarm.arm();
    await this.#gate.update();
    return this.#listening.read(after, verified);
  }

  /** Lets a call wait for an event, see `waitForEvent`. */
  override fetch(request: Request): Response {
    return this.#listening.wait(readWait(request), Date.now());
  }

  backup(call: BackupCall): Promise<BackupReply> {
    return this.#backup(call);
  }

  summary(): Summary {
    const { delivered, failed } = this.#dispatcher.sumLastDay(Date.now());
    return {
      endpoints: this.#endpoints.count(),
      delivered24h: delivered,
      failed24h: failed,
      recentEvents: this.#events.recent(10),
      firstEndpointAtMs: this.#seller.firstEndpointAtMs(),
    };
  }

  /** Erases events of deleted licenses and erased customers, a page in each call. */
  eraseEvents(subjects: ErasedSubjects, afterId: string): ErasedPage {
    return this.#dispatcher.erase(subjects, afterId, Date.now());
  }

  erase(): Promise<void> {
    return eraseObject(this.ctx);
  }

  override alarm(): Promise<void> {
    return this.#object.alarm.run();
  }
}
