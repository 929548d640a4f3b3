import { DurableObject } from 'cloudflare:workers';
import { coalesce } from '../../shared/coalesce.ts';
import { logError } from '../../shared/log.ts';
import { createLru } from '../../shared/lru.ts';
import { migrateObject } from '../../shared/object-migrations.ts';
import { gateOf } from '../../shared/objects.ts';
import type { PresentedKey } from '../../shared/presented-key.ts';
import { allowRetries } from '../../shared/retries.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { within } from '../../shared/within.ts';
import { storedName } from '../../shared/stored-account-id.ts';
import { openAdmission } from '../admission.ts';
import { type Call, openAnswers } from '../answers.ts';
import { openLedger } from '../ledger.ts';
import { openOutgoing } from '../outgoing.ts';
import { openRelay } from '../relay.ts';
import { type ReplyText, type VerifyReply, writeReply } from '../replies.ts';
import { openUsage, type UsageAt } from '../usage.ts';
import { openBranchCopy } from './branch-copy.ts';
import { openBranchEscrows } from './branch-escrows.ts';
import { openBranchHome } from './branch-home.ts';
import { BRANCH_STEPS } from './branch-tables.ts';
import type { BranchUpdate, Report } from './messages.ts';
import type { Wait } from './traffic.ts';

/** The platform repeats a call for at most ten seconds. */
const FORWARDED_IN_MEMORY = 10_000;
const EVENT_ALARM_MS = 10_000;
/** The Worker waits a little longer before it asks home itself. */
const FORWARD_MS = 2_000;

/** A branch has only licenses without terms. The Worker asks home about machines. */
const applications = {
  isPlain: () => true,
  judge: () => {
    throw new Error('A branch judges no calls about machines.');
  },
};

/**
 * A branch of an account's gate, near callers far from its home. While it holds a lease, it answers verifies from the rows
 * that it has, and counts them against what home has granted it. Home answers everything else.
 */
export class GateBranch extends DurableObject<Env> {
  static {
    allowRetries(this.prototype, ['verify', 'tell']);
  }

  readonly #accountId: string;
  readonly #region: Region;
  readonly #copy;
  readonly #ledger;
  readonly #outgoing;
  readonly #home;
  readonly #answerNow;
  readonly #relay;
  readonly #commit;
  /** Calls that were forwarded. A repeat goes where the call went first. */
  readonly #forwarded = createLru<true>(FORWARDED_IN_MEMORY);

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { storage } = ctx;
    migrateObject(storage, BRANCH_STEPS);
    const [accountId = '', region] = storedName(ctx).split('@');
    this.#accountId = accountId;
    this.#region = region as Region;
    const copy = (this.#copy = openBranchCopy(storage.sql));
    const ledger = (this.#ledger = openLedger(storage.sql));
    const outgoing = (this.#outgoing = openOutgoing(storage.sql));
    const escrows = openBranchEscrows(storage.sql, ledger);
    const upkeep = { armForEvents: () => this.#arm(EVENT_ALARM_MS) };
    const relay = (this.#relay = openRelay({ ctx, env, accountId, outgoing, upkeep }));
    const home = (this.#home = openBranchHome({
      ctx,
      copy,
      escrows,
      ledger,
      writeCounts: () => this.#writeCounts(),
      unspent: (nowMs) => (copy.account() ? usageAt(nowMs).remaining : 0),
      setWantsVerified: relay.setWantsVerified,
      home: {
        renew: async (report) => this.#gate().renew(this.#region, report),
        close: async (report) => this.#gate().close(this.#region, report),
      },
    }));
    const admission = openAdmission(copy, home.shareOfRate);
    const usageAt: UsageAt = openUsage(copy, (startMs) => ({
      apiUsage: home.othersIn(startMs) + ledger.periodUsage(startMs),
      remaining: escrows.unspent(startMs),
    }));
    this.#answerNow = openAnswers({
      copy,
      ledger,
      admission,
      usageAt,
      // Home notes the thresholds, because it knows all calls.
      noteUsage: () => {},
      applications,
      relay,
    });
    this.#commit = coalesce(
      () => this.#write(),
      () => storage.sync(),
    );
  }

  /** Answers a verify that has nothing but a license key, or lets home answer it. */
  async verify(
    presented: PresentedKey,
    licenseKey: string,
    callId: string,
    canSign: boolean,
    lastWait: Wait | null = null,
  ): Promise<ReplyText> {
    const call = { presented, call: 'verify', licenseKey, request: null, callId, canSign } as const;
    const nowMs = Date.now();
    const { traffic } = this.#ledger;
    if (lastWait) traffic.noteWait(this.#region, lastWait, nowMs);
    const reply = this.#answerHere(call, nowMs);
    // Home counts the calls that it answers.
    if (!reply) return this.#forward(call, nowMs);
    if (reply.refused === null) traffic.count(this.#region, this.#region, nowMs);
    this.#home.noteCall(nowMs);
    await this.#commit();
    if (this.#home.isRenewalDue(nowMs)) this.#renewSoon();
    return writeReply(reply, { region: this.#region, branch: this.#region });
  }

  /** Home tells what has changed. The answer confirms it, once it is on disk. */
  async tell(update: BranchUpdate): Promise<Report> {
    this.#home.hear(update);
    if (this.#home.isClosing()) {
      // The alarm repeats what fails here.
      await this.#arm(this.#home.alarmIntervalMs());
      this.#soon(this.#home.close());
    } else if (this.#home.isRenewalDue(Date.now())) this.#renewSoon();
    return this.#home.report();
  }

  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    const { shouldClose, endsBeforeAlarm, close, renew } = this.#home;
    const work = shouldClose(nowMs) ? close() : endsBeforeAlarm(nowMs) ? renew() : null;
    for (const result of await Promise.allSettled([work, this.#relay.forward()]))
      if (result.status === 'rejected') this.#logError(result.reason);
    const isClosed = this.#copy.facts.state === 'closed';
    if (!isClosed) await this.#arm(this.#home.alarmIntervalMs());
    else if (!this.#outgoing.isEmpty()) await this.#arm(EVENT_ALARM_MS);
  }

  /** Returns the answer, or null if only home can answer the call. */
  #answerHere(call: Call, nowMs: number): VerifyReply | null {
    const { presented, licenseKey, callId } = call;
    if (this.#forwarded.get(callId) || !this.#home.mayAnswer(nowMs)) return null;
    if (!this.#copy.key(presented.keyId) || !this.#copy.findLicense(licenseKey)) return null;
    const reply = this.#answerNow(call, nowMs);
    // Home may have more of the limits left.
    return reply.refused === null || reply.refused === 'api_key_invalid' ? reply : null;
  }

  async #forward(call: Call, nowMs: number): Promise<ReplyText> {
    this.#forwarded.set(call.callId, true);
    const wasCounted = this.#ledger.hasCounted(call.callId);
    const report = this.#home.report();
    const forwarding = this.#gate().forward(this.#region, { ...call, wasCounted }, report);
    if (this.#home.isRenewalDue(nowMs)) this.#renewSoon();
    const { reply, row, others } = await within(FORWARD_MS, forwarding);
    if (others) this.#home.noteOthers(others.periodStartMs, others.calls);
    if (row?.license) this.#home.noteCall(nowMs);
    if (row) this.#copy.keep(row, report.opening);
    return reply;
  }

  #gate() {
    return gateOf(this.env, this.#accountId);
  }

  #renewSoon() {
    const renew = async () => {
      // First, because only the alarm closes a branch.
      await this.#arm(this.#home.alarmIntervalMs());
      await this.#home.renew();
      // The alarm may be set for longer leases.
      if (this.#home.isOpen()) await this.#arm(this.#home.alarmIntervalMs());
    };
    this.#soon(renew());
  }

  #soon(work: Promise<unknown>) {
    this.ctx.waitUntil(work.catch((error: unknown) => this.#logError(error)));
  }

  #logError(error: unknown) {
    logError('branch_failed', error, { account_id: this.#accountId, region: this.#region });
  }

  /** Sets the alarm, but never later than it is set already. */
  async #arm(inMs: number): Promise<void> {
    const dueMs = Date.now() + inMs;
    const armedMs = (await this.ctx.storage.getAlarm()) ?? Infinity;
    if (dueMs < armedMs) await this.ctx.storage.setAlarm(dueMs);
  }

  #writeCounts() {
    try {
      this.#ledger.write();
      this.#outgoing.write();
    } catch (error) {
      // Counts that are not on disk must not stay in memory.
      this.ctx.abort(`The branch could not write: ${String(error)}`);
      throw error;
    }
  }

  async #write(): Promise<void> {
    this.#writeCounts();
    await this.#relay.soon();
  }
}
