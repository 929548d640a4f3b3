import { DurableObject } from 'cloudflare:workers';
import { database } from '../db/client.ts';
import { licenseEvent } from '../shared/events.ts';
import { logError } from '../shared/log.ts';
import { migrateObject } from '../shared/object-migrations.ts';
import type { PresentedKey } from '../shared/presented-key.ts';
import { storedAccountId } from '../shared/stored-account-id.ts';
import type { KeyScope } from '../shared/rules/api-keys.ts';
import { isoDate } from '../shared/rules/dates.ts';
import { scheduleOnce, coalesce } from '../shared/coalesce.ts';
import { type Admission, openAdmission } from './admission.ts';
import { nextAlarmMs, RETRY_MS } from './alarm-time.ts';
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
import { GATE_STEPS } from './tables.ts';
import { decideVerdict } from './verdict.ts';

/** Batching delay before calling the outbox, so that many events share one call. */
const BATCH_DELAY_MS = 50;

const ANNOUNCED_AT = 'announced_at';
const WANTS_VERIFIED = 'wants_verified';

/**
 * One object per account. It answers every verify from its own storage: it checks key, scope, rate limit, usage
 * limit and license, and counts the call, in one commit. D1 is the system of record, and `pull` copies its changes.
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
  readonly #batchedRelay;
  /** Null until the outbox has answered. Until then, the gate creates `license.verified` events just in case. */
  #wantsVerified: boolean | null;
  /** Whether the alarm is set for waiting events. Avoids reading the alarm on every commit. */
  #hasAlarmForEvents = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { storage } = ctx;
    migrateObject(storage, GATE_STEPS);
    const accountId = (this.#accountId = storedAccountId(ctx));
    const db = (this.#db = database(env));
    const copy = (this.#copy = openCopy(storage.sql, env.GATE_EPOCH));
    const ledger = (this.#ledger = openLedger(storage.sql));
    const outgoing = (this.#outgoing = openOutgoing(storage.sql));
    this.#admission = openAdmission(copy, ledger);
    this.#wantsVerified = storage.kv.get<boolean>(WANTS_VERIFIED) ?? null;
    this.#commit = coalesce(
      () => this.#write(),
      () => storage.sync(),
    );
    this.#pull = coalesce(async () => {
      await catchUp({ storage, db, accountId, copy, outgoing, ledger });
      if (!copy.progress().complete) await this.#arm();
      await this.#relaySoon();
    });
    this.#relay = coalesce(() => this.#forward());
    this.#batchedRelay = scheduleOnce(this.#relay, BATCH_DELAY_MS);
  }

  /** Answers a verify. It is the only call that a verify makes. */
  async verify(presented: PresentedKey, licenseKey: string): Promise<ReplyText> {
    return writeReply(await this.#verify(presented, licenseKey));
  }

  /** Checks key, scope and rate limit. The usage limit applies to licensing calls only, see `announce`. */
  async admit(presented: PresentedKey, needs: KeyScope): Promise<Admission> {
    if (!(await this.#ensureKnown(presented, null))) return { refused: 'unavailable' };
    const nowMs = Date.now();
    const admission = this.#admission.admit(presented, needs, nowMs);
    if (admission.refused === null) {
      this.#ledger.useKey(presented.keyId, nowMs);
      await this.#commit();
    }
    return admission;
  }

  /**
   * Prepares for a change of this account's data in D1: arms the alarm, in case the request dies before it pulls, and
   * counts the change if it is a licensing call. Counting first keeps parallel calls within the limit.
   */
  async announce(call: CountedCall | null = null): Promise<Charge> {
    const charge = call === null ? { refused: null, receipt: null } : this.#charge(call);
    if (charge.refused !== null) return charge;
    this.ctx.storage.kv.put(ANNOUNCED_AT, Date.now());
    await this.#arm();
    if (charge.receipt) await this.#commit();
    return charge;
  }

  async refund({ call, periodStartMs, countedAtMs }: Receipt): Promise<void> {
    this.#ledger.refund(call, periodStartMs, countedAtMs);
    await this.#commit();
  }

  /** Returns once every verify sees the state that D1 had when this was called. */
  async pull(): Promise<void> {
    await this.#pull();
  }

  /** Called by the outbox before it confirms a change of its endpoints. */
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

  /** Returns the times in the order of the ids, with null for a key that was never used. */
  keysLastUsedMs(keyIds: string[]): (number | null)[] {
    return keyIds.map((keyId) => this.#ledger.keyLastUsedMs(keyId));
  }

  /** The platform retries a failing alarm only six times, so this one catches errors and arms itself again. */
  override async alarm(): Promise<void> {
    this.#hasAlarmForEvents = false;
    // Run independently, because either D1 or the outbox may be unavailable.
    for (const result of await Promise.allSettled([this.#pull(), this.#relay()])) {
      if (result.status === 'fulfilled') continue;
      logError('gate_alarm_failed', result.reason, { account_id: this.#accountId });
      await this.ctx.storage.setAlarm(Date.now() + RETRY_MS);
    }
    await this.#arm();
  }

  /** Sets the alarm for the gate's next work, unless an earlier alarm is set. */
  async #arm(): Promise<void> {
    const work = {
      announcedAtMs: this.ctx.storage.kv.get<number>(ANNOUNCED_AT) ?? 0,
      hasEvents: !this.#outgoing.isEmpty(),
      isCopyComplete: this.#copy.progress().complete,
    };
    const dueMs = nextAlarmMs(work, Date.now());
    const armedMs = (await this.ctx.storage.getAlarm()) ?? Infinity;
    if (dueMs !== undefined && dueMs < armedMs) await this.ctx.storage.setAlarm(dueMs);
  }

  #charge(call: CountedCall): Charge {
    const nowMs = Date.now();
    const { apiUsage, apiLimit, period } = this.#admission.usage(nowMs);
    if (apiUsage >= apiLimit) {
      return { refused: 'usage_limit_exceeded', retryAfterSeconds: secondsUntil(period.endMs, nowMs) };
    }
    this.#ledger.count(call, period.startMs, nowMs);
    return { refused: null, receipt: { call, periodStartMs: period.startMs, countedAtMs: nowMs } };
  }

  async #verify(presented: PresentedKey, licenseKey: string): Promise<VerifyReply> {
    if (!(await this.#ensureKnown(presented, licenseKey))) return { refused: 'unavailable' };
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

  /** While the copy is incomplete, reads missing rows from D1. Returns false if D1 can't be reached. */
  async #ensureKnown(presented: PresentedKey, licenseKey: string | null): Promise<boolean> {
    if (this.#copy.progress().complete) return true;
    if (this.#admission.recall(presented, Date.now())) return true;
    const hasLicense = licenseKey === null || this.#copy.findLicense(licenseKey) !== null;
    if (hasLicense && this.#copy.account() && this.#copy.key(presented.keyId)) return true;
    try {
      if ((await this.ctx.storage.getAlarm()) === null) await this.#arm();
      this.#copy.adopt(await readThrough(this.#db, this.#accountId, presented.keyId, licenseKey));
      return true;
    } catch (error) {
      logError('gate_read_through_failed', error, { account_id: this.#accountId });
      return false;
    }
  }

  /**
   * Writes the counts and events of this commit's calls in one transaction. The platform holds their replies
   * back until the transaction is on disk, and restarts the object if it can't be written.
   */
  async #write(): Promise<void> {
    try {
      this.#ledger.write();
      this.#outgoing.write();
      await this.#relaySoon();
    } catch (error) {
      // Counts that are not on disk must not stay in memory.
      this.ctx.abort(`The gate could not write: ${String(error)}`);
    }
  }

  /** Forwards events after the batching delay. The alarm forwards them if that fails. */
  async #relaySoon(): Promise<void> {
    if (this.#outgoing.isEmpty()) return;
    if (!this.#hasAlarmForEvents) {
      this.#hasAlarmForEvents = true;
      await this.#arm();
    }
    const relay = this.#batchedRelay()?.catch((error: unknown) => {
      logError('relay_failed', error, { account_id: this.#accountId });
    });
    if (relay) this.ctx.waitUntil(relay);
  }

  /** Forwards events to the outbox, oldest first. A row is deleted once the outbox has stored its events. */
  async #forward(): Promise<void> {
    for (let next = this.#outgoing.next(); next; next = this.#outgoing.next()) {
      const { wantsVerified } = await this.env.OUTBOX.getByName(this.#accountId).accept(next.events);
      if (this.#wantsVerified === null) this.setWantsVerified(wantsVerified);
      this.#outgoing.remove(next.throughSeq);
    }
  }
}
