import { DurableObject } from 'cloudflare:workers';
import { database } from '../db/client.ts';
import type { KeyScope } from '../shared/rules/api-keys.ts';
import { isoDate } from '../shared/rules/dates.ts';
import { licenseEvent } from '../shared/events.ts';
import { logError } from '../shared/log.ts';
import { storedAccountId } from '../shared/stored-account-id.ts';
import { scheduleOnce, coalesce } from '../shared/coalesce.ts';
import { type Admission, openAdmission } from './admission.ts';
import { type PresentedKey } from '../shared/presented-key.ts';
import { catchUp } from './catch-up.ts';
import { openCopy } from './copy.ts';
import { type CountedCall, openLedger } from './ledger.ts';
import { openOutgoing } from './outgoing.ts';
import { secondsUntil } from './period.ts';
import {
  type Charge,
  type Receipt,
  type ReplyText,
  type Statistics,
  type VerifyReply,
  writeReply,
} from './replies.ts';
import { readThrough } from './source.ts';
import { decideVerdict } from './verdict.ts';

/** A change whose author died is found this soon … */
const FIRST_LOOK_MS = 3_000;
/** … and, if its commit took its time, by then: D1 gives up on a query long before. */
const LAST_LOOK_MS = 90_000;
const RETRY_MS = 3_000;
/** For so long events gather on disk before the outbox is called: one call for many instead of one for each. */
const GATHER_MS = 50;

const ANNOUNCED_AT = 'announced_at';
const WANTS_VERIFIED = 'wants_verified';

/**
 * One per account. It answers every verify from its own storage: key, scope, pace, quota, license and
 * count, in one commit. D1 is the system of record; `pull` copies what has changed there.
 */
export class AccountGate extends DurableObject<Env> {
  readonly #accountId: string;
  readonly #db;
  readonly #copy;
  readonly #ledger;
  readonly #admission;
  readonly #outgoing;
  readonly #commit;
  readonly #pull;
  readonly #relay;
  readonly #gatheredRelay;
  /** Null until the outbox has said it: then the event is made, and the outbox drops what nobody wants. */
  #wantsVerified: boolean | null;
  /** Saves asking for the alarm at every commit. */
  #armedForEvents = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#accountId = storedAccountId(ctx);
    this.#db = database(env);
    this.#copy = openCopy(ctx.storage.sql, env.GATE_EPOCH);
    this.#ledger = openLedger(ctx.storage.sql);
    this.#admission = openAdmission(this.#copy, this.#ledger);
    this.#outgoing = openOutgoing(ctx.storage.sql);
    this.#wantsVerified = ctx.storage.kv.get<boolean>(WANTS_VERIFIED) ?? null;
    this.#commit = coalesce(
      () => this.#write(),
      () => ctx.storage.sync(),
    );
    this.#pull = coalesce(() => this.#catchUp());
    this.#relay = coalesce(() => this.#handOver());
    this.#gatheredRelay = scheduleOnce(this.#relay, GATHER_MS);
  }

  /** Every verify is this one call. */
  async verify(presented: PresentedKey, licenseKey: string): Promise<ReplyText> {
    return writeReply(await this.#verify(presented, licenseKey));
  }

  /** May this key make this call? Says nothing of the quota, which only licensing calls use. */
  async admit(presented: PresentedKey, needs: KeyScope): Promise<Admission> {
    if (!(await this.#knows(presented.keyId, null))) return { refused: 'unavailable' };
    const nowMs = Date.now();
    const admission = this.#admission.admit(presented, needs, nowMs);
    if (admission.refused === null) {
      this.#ledger.useKey(presented.keyId, nowMs);
      await this.#commit();
    }
    return admission;
  }

  /** Counts a licensing call before it is carried out, so that calls in parallel can't pass the limit. */
  async charge(call: CountedCall): Promise<Charge> {
    const nowMs = Date.now();
    const { apiUsage, apiLimit, period } = this.#admission.usage(nowMs);
    if (apiUsage >= apiLimit) {
      return { refused: 'usage_limit_exceeded', retryAfterSeconds: secondsUntil(period.endMs, nowMs) };
    }
    this.#ledger.count(call, period.startMs, nowMs);
    await this.#commit();
    return { refused: null, receipt: { call, periodStartMs: period.startMs, countedAtMs: nowMs } };
  }

  async refund({ call, periodStartMs, countedAtMs }: Receipt): Promise<void> {
    this.#ledger.refund(call, periodStartMs, countedAtMs);
    await this.#commit();
  }

  /** Somebody is about to change this account in D1: should they die before they say so, the alarm looks. */
  async announce(): Promise<void> {
    this.ctx.storage.kv.put(ANNOUNCED_AT, Date.now());
    await this.#arm();
  }

  /** When this has returned, every verify sees what was in D1 when it was called. */
  async pull(): Promise<void> {
    await this.#pull();
  }

  /** Told by the outbox before it answers for a change of its endpoints. */
  setWantsVerified(wanted: boolean): void {
    this.#wantsVerified = wanted;
    this.ctx.storage.kv.put(WANTS_VERIFIED, wanted);
  }

  async statistics(fromDate: string): Promise<Statistics> {
    if (!this.#copy.account()) await this.#pull();
    return {
      ...this.#admission.usage(Date.now()),
      days: this.#ledger.days(fromDate),
      firstValidVerifyMs: this.#ledger.firstValidVerifyMs(),
    };
  }

  /** In the order asked for; null for a key that was never used. */
  keysLastUsedMs(keyIds: string[]): (number | null)[] {
    return keyIds.map((keyId) => this.#ledger.keyLastUsedMs(keyId));
  }

  /** An alarm that throws is retried six times and never again, so it catches and arms itself anew. */
  override async alarm(): Promise<void> {
    this.#armedForEvents = false;
    // Neither waits for the other: D1 may be down, or the outbox.
    for (const done of await Promise.allSettled([this.#pull(), this.#relay()])) {
      if (done.status === 'fulfilled') continue;
      logError('gate_alarm_failed', done.reason, { account_id: this.#accountId });
      await this.ctx.storage.setAlarm(Date.now() + RETRY_MS);
    }
    await this.#arm();
  }

  /** Sets the alarm to what is next, and never later than it was: more to copy, or a look for an announced change. */
  async #arm(): Promise<void> {
    const nowMs = Date.now();
    const announcedAtMs = this.ctx.storage.kv.get<number>(ANNOUNCED_AT) ?? 0;
    const looks = [announcedAtMs + FIRST_LOOK_MS, announcedAtMs + LAST_LOOK_MS];
    if (!this.#outgoing.isEmpty()) looks.unshift(nowMs + RETRY_MS);
    const dueMs = this.#copy.progress().complete ? looks.find((lookMs) => lookMs > nowMs) : nowMs + 1;
    const armedMs = (await this.ctx.storage.getAlarm()) ?? Infinity;
    if (dueMs !== undefined && dueMs < armedMs) await this.ctx.storage.setAlarm(dueMs);
  }

  async #verify(presented: PresentedKey, licenseKey: string): Promise<VerifyReply> {
    if (!(await this.#knows(presented.keyId, licenseKey))) return { refused: 'unavailable' };
    const nowMs = Date.now();
    const admission = this.#admission.admit(presented, 'verify', nowMs);
    if (admission.refused !== null) return admission;
    const { apiUsage, apiLimit, period } = this.#admission.usage(nowMs);
    if (apiUsage >= apiLimit) {
      const retryAfterSeconds = secondsUntil(period.endMs, nowMs);
      return { refused: 'usage_limit_exceeded', rate: admission.rate, retryAfterSeconds };
    }
    const license = this.#copy.findLicense(licenseKey);
    const verdict = decideVerdict(license, isoDate(nowMs));
    this.#ledger.count('verify', period.startMs, nowMs);
    this.#ledger.useKey(presented.keyId, nowMs);
    if (license && verdict.valid) {
      this.#ledger.noteValidVerify(nowMs);
      if (this.#wantsVerified !== false) this.#outgoing.add(licenseEvent('license.verified', nowMs, license));
    }
    await this.#commit();
    return { refused: null, rate: admission.rate, verdict, apiUsage: apiUsage + 1, apiLimit };
  }

  /** Sees to it that a miss in the copy means that there is no such thing. False while D1 can't be asked. */
  async #knows(keyId: string, licenseKey: string | null): Promise<boolean> {
    if (this.#copy.progress().complete) return true;
    const licenseKnown = licenseKey === null || this.#copy.findLicense(licenseKey) !== null;
    if (licenseKnown && this.#copy.account() && this.#copy.key(keyId)) return true;
    try {
      if ((await this.ctx.storage.getAlarm()) === null) await this.#arm();
      this.#copy.adopt(await readThrough(this.#db, this.#accountId, keyId, licenseKey));
      return true;
    } catch (error) {
      logError('gate_read_through_failed', error, { account_id: this.#accountId });
      return false;
    }
  }

  async #catchUp(): Promise<void> {
    await catchUp({
      storage: this.ctx.storage,
      db: this.#db,
      accountId: this.#accountId,
      copy: this.#copy,
      outgoing: this.#outgoing,
      ledger: this.#ledger,
    });
    if (!this.#copy.progress().complete) await this.#arm();
    await this.#relaySoon();
  }

  /**
   * What the calls of this commit have counted and announced, at once or not at all. The platform holds their
   * replies back until it is on disk, and starts the object again if it can't be.
   */
  async #write(): Promise<void> {
    try {
      this.#ledger.write();
      this.#outgoing.write();
      await this.#relaySoon();
    } catch (error) {
      // Counts that are not on disk must not live on in memory.
      this.ctx.abort(`The gate could not write: ${String(error)}`);
    }
  }

  /** Events leave soon after their commit, and by the alarm whatever happens. */
  async #relaySoon(): Promise<void> {
    if (this.#outgoing.isEmpty()) return;
    if (!this.#armedForEvents) {
      this.#armedForEvents = true;
      await this.#arm();
    }
    const relay = this.#gatheredRelay()?.catch((error: unknown) => {
      logError('relay_failed', error, { account_id: this.#accountId });
    });
    if (relay) this.ctx.waitUntil(relay);
  }

  /** Hands events to the outbox, oldest first; a row goes once the outbox has it on disk. */
  async #handOver(): Promise<void> {
    for (let next = this.#outgoing.next(); next; next = this.#outgoing.next()) {
      const { wantsVerified } = await this.env.OUTBOX.getByName(this.#accountId).accept(next.events);
      if (this.#wantsVerified === null) this.setWantsVerified(wantsVerified);
      this.#outgoing.remove(next.throughSeq);
    }
  }
}
