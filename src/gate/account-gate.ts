import { DurableObject } from 'cloudflare:workers';
import { databaseOf } from '../db/client.ts';
import { logError } from '../shared/log.ts';
import { allowRetries } from '../shared/retries.ts';
import { migrateObject } from '../shared/object-migrations.ts';
import type { PresentedKey } from '../shared/presented-key.ts';
import { storedAccountId } from '../shared/stored-account-id.ts';
import type { KeyScope } from '../shared/rules/api-keys.ts';
import type { Region } from '../shared/rules/regions.ts';
import { coalesce } from '../shared/coalesce.ts';
import { openActivations } from './activations.ts';
import { type Admission, openAdmission } from './admission.ts';
import { openAnswers } from './answers.ts';
import { type ApplicationRequest, openApplications } from './applications.ts';
import { openCalls } from './calls.ts';
import { openCatchUp } from './catch-up.ts';
import { openChanges } from './changes.ts';
import { openCopy } from './copy.ts';
import { openLedger } from './ledger.ts';
import { openOutgoing } from './outgoing.ts';
import { openReadThrough } from './read-through.ts';
import { openRelay } from './relay.ts';
import { type Announcement, type CountedChange, type ReplyText, type Statistics } from './replies.ts';
import { openSellerCalls } from './seller-calls.ts';
import type { FileRequest } from './seller-types.ts';
import { openSessionRate } from './session-rate.ts';
import type { SeatCall } from './seats.ts';
import type { FeedRead } from './source.ts';
import { openStatistics } from './statistics.ts';
import { GATE_STEPS } from './tables.ts';
import { openUpkeep } from './upkeep.ts';
import { openUsage } from './usage.ts';
import { openUsageThreshold } from './usage-threshold.ts';

/**
 * One object per account. It answers every verify from its own storage: it checks key, scope, rate limit, usage
 * limit and license, and counts the call, in one commit. D1 is the system of record, and `pull` copies its changes.
 */
export class AccountGate extends DurableObject<Env> {
  static {
    allowRetries(this.prototype, [
      'verify',
      'application',
      'listActivations',
      'listSeatChanges',
      'issueFile',
      'admit',
      'admitSession',
      'announce',
      'apply',
      'abandon',
      'pull',
      'setWantsVerified',
      'statistics',
      'keysLastUsedMs',
    ]);
  }

  readonly #accountId: string;
  readonly #copy;
  readonly #ledger;
  readonly #statistics;
  readonly #calls;
  readonly #seller;
  readonly #admitSession = openSessionRate();
  readonly #outgoing;
  readonly #catchUp;
  readonly #changes;
  readonly #upkeep;
  readonly #pull;
  readonly #relay;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { storage } = ctx;
    migrateObject(storage, GATE_STEPS);
    const accountId = (this.#accountId = storedAccountId(ctx));
    // Opened on use, because a verify needs no database.
    const db = () => databaseOf(env, accountId);
    const copy = (this.#copy = openCopy(storage.sql, env.GATE_EPOCH));
    const ledger = (this.#ledger = openLedger(storage.sql));
    const activations = openActivations(storage.sql);
    const outgoing = (this.#outgoing = openOutgoing(storage.sql));
    const admission = openAdmission(copy);
    const usageAt = openUsage(copy, (startMs, apiLimit) => {
      const apiUsage = ledger.periodUsage(startMs);
      return { apiUsage, remaining: apiLimit - apiUsage };
    });
    this.#statistics = openStatistics(ledger, usageAt);
    const noteUsage = openUsageThreshold({ copy, ledger, outgoing });
    const commit = coalesce(
      () => this.#write(),
      () => storage.sync(),
    );
    const upkeep = (this.#upkeep = openUpkeep(storage, copy, outgoing));
    const ensureKnown = openReadThrough({ db, accountId, copy, admission, upkeep });
    this.#catchUp = openCatchUp({ ctx, db, accountId, copy, outgoing, ledger, activations, upkeep });
    this.#changes = openChanges({ ctx, usageAt, noteUsage, ledger, outgoing, upkeep });
    this.#pull = coalesce(async () => {
      await this.#catchUp.pull();
      await this.#relay.soon();
    });
    const relay = (this.#relay = openRelay({ ctx, env, accountId, outgoing, upkeep }));
    const applications = openApplications({ ctx, copy, activations, outgoing });
    this.#seller = openSellerCalls({ copy, activations, applications, ensureKnown, commit });
    const answerNow = openAnswers({ copy, ledger, admission, usageAt, noteUsage, applications, relay });
    this.#calls = openCalls({ copy, ledger, admission, answerNow, ensureKnown, commit });
    // No call waits for a reload, so the alarm has to do it.
    if (copy.loadPosition() !== null) void ctx.blockConcurrencyWhile(() => upkeep.arm());
  }

  /** Answers a verify. It is the only call that a verify makes. A repeat with the same `callId` isn't counted again. */
  async verify(
    presented: PresentedKey,
    licenseKey: string,
    callId = '',
    canSign = true,
    region: Region | null = null,
  ): Promise<ReplyText> {
    return this.#calls.answer(
      { presented, call: 'verify', licenseKey, request: null, callId, canSign },
      region,
    );
  }

  /** Answers one of the four calls of an application. */
  async application(
    presented: PresentedKey,
    call: SeatCall,
    request: ApplicationRequest,
    callId: string,
    region: Region | null = null,
  ): Promise<ReplyText> {
    const { licenseKey } = request;
    return this.#calls.answer({ presented, call, licenseKey, request, callId, canSign: true }, region);
  }

  listActivations(licenseKey: string, limit: number, beforeId: string | null) {
    return this.#seller.list(licenseKey, limit, beforeId);
  }

  listSeatChanges(licenseKey: string, limit: number, beforeSeq: number | null) {
    return this.#seller.history(licenseKey, limit, beforeSeq);
  }

  releaseActivation(licenseKey: string, id: string, force: boolean) {
    return this.#seller.release(licenseKey, id, force);
  }

  issueFile(request: FileRequest) {
    return this.#seller.issueFile(request);
  }

  /** Checks key, scope and rate limit. The usage limit applies to licensing calls only, see `announce`. */
  async admit(presented: PresentedKey, needs: KeyScope): Promise<Admission> {
    return this.#calls.admit(presented, needs);
  }

  /** Checks the rate limit of the account's sessions, which all sessions share. */
  admitSession(): Admission {
    return this.#admitSession(Date.now());
  }

  /**
   * Prepares for a change of this account's data in D1: arms the alarm, in case the request dies before the gate has
   * applied the change, and counts the change if it is a licensing call. Counting first keeps parallel calls within
   * the limit.
   */
  async announce(ref = '', counted: CountedChange | null = null, token = ''): Promise<Announcement> {
    const refusal = this.#changes.announce(token, ref, counted);
    if (refusal) return refusal;
    await this.#upkeep.arm();
    const { appliedSeq, appliedAt } = this.#copy.progress();
    return { refused: null, position: { appliedSeq, appliedAt } };
  }

  /** Applies what the announced change's own batch read from the feed. Every verify sees the change afterwards. */
  async apply(token: string, read: FeedRead): Promise<void> {
    const readsAgain = this.#catchUp.apply(read);
    // A new gate's first pull brings the first page of its copy, which for most accounts is everything.
    if (readsAgain || !this.#copy.progress().complete) await this.#pull();
    this.#upkeep.settle(token);
    await this.#relay.soon();
  }

  /** The announced change was not committed: takes its count back. */
  abandon(token: string): void {
    this.#changes.abandon(token);
  }

  /** Returns once every verify sees the state that D1 had when this was called. */
  async pull(): Promise<void> {
    await this.#pull();
  }

  /** Called by the outbox before it confirms a change of its endpoints. */
  setWantsVerified(wanted: boolean): void {
    this.#relay.setWantsVerified(wanted);
  }

  async statistics(fromDate: string): Promise<Statistics> {
    if (!this.#copy.account()) await this.#pull();
    return this.#statistics.read(fromDate, Date.now());
  }

  keysLastUsedMs(keyIds: string[]): (number | null)[] {
    return this.#statistics.keysLastUsedMs(keyIds);
  }

  /** The platform retries a failing alarm only six times, so this one catches errors and arms itself again. */
  override async alarm(): Promise<void> {
    this.#upkeep.alarmStarted();
    const startedMs = Date.now();
    // Run independently, because either D1 or the outbox may be unavailable.
    const results = await Promise.allSettled([
      this.#upkeep.needsPull() ? this.#pull() : null,
      this.#upkeep.isReloadDue(Date.now()) ? this.#catchUp.loadPage() : null,
      this.#relay.forward(),
    ]);
    const failed = results.filter((result) => result.status === 'rejected');
    for (const { reason } of failed) logError('gate_alarm_failed', reason, { account_id: this.#accountId });
    if (failed.length === 0) this.#changes.refundUncommitted(startedMs);
    await this.#upkeep.alarmFinished(failed.length > 0);
  }

  /**
   * Writes the counts and events of this commit's calls in one transaction. The platform holds their replies
   * back until the transaction is on disk, and restarts the object if it can't be written.
   */
  async #write(): Promise<void> {
    try {
      this.#ledger.write();
      this.#outgoing.write();
      await this.#relay.soon();
    } catch (error) {
      // Counts that are not on disk must not stay in memory.
      this.ctx.abort(`The gate could not write: ${String(error)}`);
    }
  }
}
