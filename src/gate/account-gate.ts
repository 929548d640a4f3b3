import { DurableObject } from 'cloudflare:workers';
import { logError } from '../shared/log.ts';
import { allowRetries } from '../shared/retries.ts';
import { migrateObject } from '../shared/object-migrations.ts';
import type { PresentedKey } from '../shared/presented-key.ts';
import { storedName } from '../shared/stored-account-id.ts';
import type { KeyScope } from '../shared/rules/api-keys.ts';
import type { Region } from '../shared/rules/regions.ts';
import type { Admission } from './admission.ts';
import type { Call } from './answers.ts';
import type { ApplicationRequest } from './application-verdict.ts';
import { type GateParts, openParts } from './parts.ts';
import type { Forwarded, RenewalReply, Report } from './regions/messages.ts';
import type { Wait } from './regions/traffic.ts';
import type { Announcement, CountedChange, RegionStatistics, ReplyText, Statistics } from './replies.ts';
import type { FileRequest } from './seller-types.ts';
import type { SeatCall } from './seats.ts';
import type { FeedRead } from './source.ts';
import { GATE_STEPS } from './tables.ts';

/**
 * One object per account. It answers every verify from its own storage: it checks key, scope, rate limit, usage
 * limit and license, and counts the call, in one commit. D1 is the system of record, and `pull` copies its changes.
 */
export class AccountGate extends DurableObject<Env> {
  static {
    allowRetries(this.prototype, [
      'verify',
      'application',
      'forward',
      'renew',
      'close',
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
      'regionStatistics',
      'keysLastUsedMs',
    ]);
  }

  readonly #parts: GateParts;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrateObject(ctx.storage, GATE_STEPS);
    this.#parts = openParts(ctx, env, storedName(ctx));
    const { copy, upkeep } = this.#parts;
    // No call waits for a reload, so the alarm has to do it.
    if (copy.loadPosition() !== null) void ctx.blockConcurrencyWhile(() => upkeep.arm());
  }

  /**
   * Answers a verify. It is the only call that a verify makes. A repeat with the same `callId` isn't counted again. `region` is
   * the caller's, and `lastWait` the Worker's wait for an earlier answer.
   */
  async verify(
    presented: PresentedKey,
    licenseKey: string,
    callId = '',
    canSign = true,
    region: Region | null = null,
    lastWait: Wait | null = null,
  ): Promise<ReplyText> {
    return this.#parts.calls.answer(
      { presented, call: 'verify', licenseKey, request: null, callId, canSign },
      region,
      lastWait,
    );
  }

  /** Answers one of the four calls of an application. */
  async application(
    presented: PresentedKey,
    call: SeatCall,
    request: ApplicationRequest,
    callId: string,
    region: Region | null = null,
    lastWait: Wait | null = null,
  ): Promise<ReplyText> {
    const { licenseKey } = request;
    return this.#parts.calls.answer(
      { presented, call, licenseKey, request, callId, canSign: true },
      region,
      lastWait,
    );
  }

  /** Answers a call that a branch can't answer. */
  forward(region: Region, call: Call, report: Report): Promise<Forwarded> {
    return this.#parts.calls.forward(region, call, report);
  }

  /** Renews a branch's lease. */
  renew(region: Region, report: Report): RenewalReply {
    return this.#parts.branches.renew(region, report, Date.now());
  }

  /** Closes a branch, which has given back everything that it has not spent. */
  close(region: Region, report: Report): void {
    this.#parts.branches.close(region, report);
  }

  listActivations(licenseKey: string, limit: number, beforeId: string | null) {
    return this.#parts.seller.list(licenseKey, limit, beforeId);
  }

  listSeatChanges(licenseKey: string, limit: number, beforeSeq: number | null) {
    return this.#parts.seller.history(licenseKey, limit, beforeSeq);
  }

  releaseActivation(licenseKey: string, id: string, force: boolean) {
    return this.#parts.seller.release(licenseKey, id, force);
  }

  issueFile(request: FileRequest) {
    return this.#parts.seller.issueFile(request);
  }

  /** Checks key, scope and rate limit. The usage limit applies to licensing calls only, see `announce`. */
  async admit(presented: PresentedKey, needs: KeyScope): Promise<Admission> {
    return this.#parts.calls.admit(presented, needs);
  }

  /** Checks the rate limit of the account's sessions, which all sessions share. */
  admitSession(): Admission {
    return this.#parts.admitSession(Date.now());
  }

  /**
   * Prepares for a change of this account's data in D1: arms the alarm, in case the request dies before the gate has
   * applied the change, and counts the change if it is a licensing call. Counting first keeps parallel calls within
   * the limit.
   */
  async announce(ref = '', counted: CountedChange | null = null, token = ''): Promise<Announcement> {
    if (counted) await this.#parts.calls.recall();
    const refusal = this.#parts.changes.announce(token, ref, counted);
    if (refusal) return refusal;
    await this.#parts.upkeep.arm();
    const { appliedSeq, appliedAt } = this.#parts.copy.progress();
    return { refused: null, position: { appliedSeq, appliedAt } };
  }

  /** Applies what the announced change's own batch read from the feed. Every verify sees the change afterwards. */
  async apply(token: string, read: FeedRead): Promise<void> {
    const readsAgain = this.#parts.catchUp.apply(read);
    // A new gate's first pull brings the first page of its copy, which for most accounts is everything.
    if (readsAgain || !this.#parts.copy.progress().complete) await this.#parts.pull();
    this.#parts.upkeep.settle(token);
    await this.#parts.relay.soon();
    await this.#parts.branches.acknowledged();
  }

  /** The announced change was not committed: takes its count back. */
  abandon(token: string): void {
    this.#parts.changes.abandon(token);
  }

  /** Returns once every verify sees the state that D1 had when this was called. */
  async pull(): Promise<void> {
    await this.#parts.pull();
    await this.#parts.branches.acknowledged();
  }

  /** Called by the outbox before it confirms a change of its endpoints. */
  async setWantsVerified(wanted: boolean): Promise<void> {
    this.#parts.relay.setWantsVerified(wanted);
    this.#parts.branches.log([{ kind: 'account', ref: '', isNew: false }]);
    await this.#parts.branches.acknowledged();
  }

  async statistics(fromDate: string): Promise<Statistics> {
    if (!this.#parts.copy.account()) await this.#parts.pull();
    return this.#parts.statistics.read(fromDate, Date.now());
  }

  regionStatistics(fromDate: string | null): RegionStatistics {
    return this.#parts.statistics.readRegions(fromDate);
  }

  keysLastUsedMs(keyIds: string[]): (number | null)[] {
    return this.#parts.statistics.keysLastUsedMs(keyIds);
  }

  /** The platform retries a failing alarm only six times, so this one catches errors and arms itself again. */
  override async alarm(): Promise<void> {
    this.#parts.upkeep.alarmStarted();
    const startedMs = Date.now();
    // Run independently, because either D1 or the outbox may be unavailable.
    const results = await Promise.allSettled([
      this.#parts.upkeep.needsPull() ? this.#parts.pull() : null,
      this.#parts.upkeep.isReloadDue(Date.now()) ? this.#parts.catchUp.loadPage() : null,
      this.#parts.relay.forward(),
    ]);
    const failed = results.filter((result) => result.status === 'rejected');
    for (const { reason } of failed)
      logError('gate_alarm_failed', reason, { account_id: this.#parts.accountId });
    if (failed.length === 0) this.#parts.changes.refundUncommitted(startedMs);
    await this.#parts.upkeep.alarmFinished(failed.length > 0);
  }
}
