import { DurableObject } from 'cloudflare:workers';
import { armAlarm } from '../../shared/objects/arm-alarm.ts';
import { coalesce } from '../../shared/objects/coalesce.ts';
import { eraseObject } from '../../shared/objects/erase.ts';
import { logError } from '../../shared/text/log.ts';
import { migrateObject } from '../../shared/objects/migrations.ts';
import { gateOf, rememberEpoch } from '../../shared/objects/address.ts';
import type { PresentedKey } from '../../shared/rules/api-keys.ts';
import { allowRetries } from '../../shared/objects/retries.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { storedName } from '../../shared/objects/stored-name.ts';
import { openAdmission } from '../object/admission.ts';
import { openAnswers } from '../object/answers.ts';
import { openLedger } from '../object/ledger.ts';
import { openOutgoing } from '../object/outgoing.ts';
import { openRelay } from '../object/relay.ts';
import { type MovedTo, type ReplyText, type VerifyReply, writeReply } from '../rules/replies.ts';
import { openSeatClock } from '../object/seat-clock.ts';
import type { SeatCall } from '../rules/seats.ts';
import { openUsage } from '../object/usage.ts';
import { openBranchApplications } from './applications.ts';
import { openBranchCopy } from './branch-copy.ts';
import { openBranchEscrows } from './escrows.ts';
import { openBranchHome } from './home-link.ts';
import { BRANCH_TABLES } from './tables.ts';
import { openForwarding } from './forwarding.ts';
import type { BranchUpdate, Report } from '../rules/messages.ts';
import type { Wait } from '../rules/traffic.ts';
import type { Call, ApplicationRequest } from '../rules/calls.ts';
import type { UsageAt } from '../rules/usage.ts';

const EVENT_ALARM_MS = 10_000;
/**
 * A branch of an account's gate, near callers far from its home. While it holds a lease, it answers verifies from the rows
 * that it has, and counts them against what home has granted it. Home answers everything else.
 */
export class GateBranch extends DurableObject<Env> {
  static {
    allowRetries(this.prototype, ['verify', 'application', 'tell', 'eraseTraces', 'erase']);
  }

  readonly #accountId: string;
  readonly #region: Region;
  readonly #copy;
  readonly #ledger;
  readonly #outgoing;
  readonly #home;
  readonly #applications;
  readonly #forwarding;
  readonly #answerNow;
  readonly #relay;
  readonly #commit;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { storage } = ctx;
    migrateObject(storage, BRANCH_TABLES);
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
      noteShare: () => admission.noteShare(Date.now()),
      home: {
        renew: async (report) => this.#fromHome(await this.#gate().renew(this.#region, report)),
        close: async (report) => this.#gate().close(this.#region, report),
      },
    }));
    const applications = (this.#applications = openBranchApplications(copy, openSeatClock(storage.kv)));
    this.#forwarding = openForwarding({
      copy,
      home,
      ledger,
      forward: async (call, report) => this.#fromHome(await this.#gate().forward(this.#region, call, report)),
      onFailure: (error) => this.#logError(error),
    });
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
    const write = async () => {
      this.#writeCounts();
      await relay.soon();
    };
    this.#commit = coalesce(write, () => storage.sync());
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
    return this.#answer(call, lastWait);
  }

  /** Answers an application's verify, or lets home answer it. */
  async application(
    presented: PresentedKey,
    call: SeatCall,
    request: ApplicationRequest,
    callId: string,
    lastWait: Wait | null = null,
  ): Promise<ReplyText> {
    const { licenseKey } = request;
    return this.#answer({ presented, call, licenseKey, request, callId, canSign: true }, lastWait);
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

  /** Drops the copies of home's rows. Events that were created before are in the outbox afterwards. */
  async eraseTraces(): Promise<void> {
    this.#copy.dropAll();
    this.#writeCounts();
    await this.#relay.forward();
  }

  async erase(): Promise<void> {
    await eraseObject(this.ctx);
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

  async #answer(call: Call, lastWait: Wait | null): Promise<ReplyText> {
    const nowMs = Date.now();
    const { traffic } = this.#ledger;
    if (lastWait) traffic.noteWait(this.#region, lastWait, nowMs);
    const reply = this.#answerHere(call, nowMs);
    if (!reply) {
      // Home counts the calls that it answers.
      const forwarded = this.#forwarding.forward(call, nowMs);
      if (this.#home.isRenewalDue(nowMs)) this.#renewSoon();
      return (await forwarded) ?? this.#withoutHome();
    }
    if (reply.refused === null) traffic.count(this.#region, this.#region, nowMs);
    this.#home.noteCall(nowMs);
    await this.#commit();
    if (this.#home.isRenewalDue(nowMs)) this.#renewSoon();
    return writeReply(reply, { region: this.#region, branch: this.#region });
  }

  /** Returns the answer, or null if only home can answer the call. */
  #answerHere(call: Call, nowMs: number): VerifyReply | null {
    const { presented, callId } = call;
    if (this.#forwarding.wasForwarded(callId) || !this.#home.mayAnswer(nowMs)) return null;
    if (!this.#copy.account() || !this.#copy.key(presented.keyId)) return null;
    const step = this.#applications.decide(call, nowMs);
    if (step === 'forward') return null;
    const reply = this.#answerNow(call, nowMs);
    // Home may have more of the limits left.
    if (reply.refused !== null) return reply.refused === 'api_key_invalid' ? reply : null;
    if (step === 'answer_and_note') this.#soon(this.#forwarding.noteSeen(call));
    return reply;
  }

  /** Lets the Worker ask home itself. While the branch has a lease, it still answers other calls. */
  #withoutHome(): ReplyText {
    const branch = this.#home.mayAnswer(Date.now()) ? this.#region : undefined;
    return writeReply({ refused: 'unavailable' }, { region: this.#region, branch });
  }

  #gate() {
    return gateOf(this.env, this.#accountId);
  }

  #fromHome<T extends MovedTo | null>(reply: T): T {
    if (reply) rememberEpoch(this.#accountId, reply);
    return reply;
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

  #arm(inMs: number): Promise<void> {
    return armAlarm(this.ctx.storage, Date.now() + inMs);
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
}
