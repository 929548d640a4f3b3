import { DurableObject } from 'cloudflare:workers';
import { openObject } from '../../shared/objects/context.ts';
import { eraseObject } from '../../shared/objects/erase.ts';
import { migrateObject, type ObjectTables } from '../../shared/objects/migrations.ts';
import { allowRetries } from '../../shared/objects/retries.ts';
import { storedName } from '../../shared/objects/stored-name.ts';
import type { PresentedKey } from '../../shared/rules/api-keys.ts';
import { isoDate } from '../../shared/rules/dates.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { NO_TERMS } from '../../shared/rules/terms.ts';
import type { CallInput, CallName, PlainVerdict, Verdict } from '../../shared/rules/verdict.ts';
import { openAdmission } from '../object/admission.ts';
import { openAnswerCall } from '../object/answer-call.ts';
import { openLedger } from '../object/ledger.ts';
import { EVENTS_OF_COUNTERS, openOutgoing, openRelay } from '../object/outgoing.ts';
import { openSeatClock } from '../object/seat-clock.ts';
import { type Call, type Reply, type ReplyText, writeReply } from '../rules/calls.ts';
import { judge, plainVerdict, toVerdict } from '../rules/judge.ts';
import { type BranchUpdate, hasNoSeats, isCopied, type Report } from '../rules/messages.ts';
import type { Wait } from '../rules/traffic.ts';
import { openBranchCopy } from './branch-copy.ts';
import { openForwarding } from './forwarding.ts';
import { openHomeLink } from './home-link.ts';
import { openBranchLimits } from './limits.ts';

/** The tables of a branch: its copy, and what it has counted. */
export const BRANCH_TABLES: ObjectTables = {
  base: `
    CREATE TABLE facts (only INTEGER PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE copies (
      kind TEXT NOT NULL, ref TEXT NOT NULL, as_of INTEGER NOT NULL, product TEXT, value TEXT NOT NULL,
      PRIMARY KEY (kind, ref)
    ) WITHOUT ROWID;
    CREATE TABLE escrows (period_start_ms INTEGER PRIMARY KEY, granted INTEGER NOT NULL, returned INTEGER NOT NULL);
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE recent_counters (
      only INTEGER PRIMARY KEY, counters TEXT NOT NULL, calls TEXT NOT NULL, traffic TEXT NOT NULL DEFAULT ''
    );
    CREATE TABLE outgoing (seq INTEGER PRIMARY KEY, events TEXT NOT NULL);`,
  baseVersion: 2,
  steps: [EVENTS_OF_COUNTERS],
};

interface VerdictHere {
  verdict: PlainVerdict | Verdict;
  /** Whether home has to note that the machine was seen. */
  isSeen: boolean;
}

/**
 * A branch of an account's gate, near callers far from its home. While it holds a lease, it answers verifies from the rows
 * that it has, and counts them against what home has granted it. Home answers everything else.
 */
export class GateBranch extends DurableObject<Env> {
  static {
    allowRetries(this.prototype, ['verify', 'application', 'claim', 'tell', 'eraseTraces', 'erase']);
  }

  readonly #region: Region;
  readonly #object;
  readonly #copy;
  readonly #ledger;
  readonly #link;
  readonly #clock;
  readonly #forwarding;
  readonly #admission;
  readonly #answerCall;
  readonly #relay;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { sql, kv } = ctx.storage;
    migrateObject(ctx.storage, BRANCH_TABLES);
    const [accountId = '', name] = storedName(ctx).split('@');
    const region = (this.#region = name as Region);
    const object = (this.#object = openObject(ctx, env, accountId, { region }));
    const copy = (this.#copy = openBranchCopy(sql));
    const outgoing = openOutgoing(sql);
    const ledger = (this.#ledger = openLedger(sql, outgoing.kept));
    const limits = openBranchLimits(sql, copy, ledger);
    object.journal.add(ledger);
    const relay = (this.#relay = openRelay(object, outgoing));
    const admission = (this.#admission = openAdmission(copy, limits.shareOfRate));
    const link = (this.#link = openHomeLink(object, region, copy, ledger, limits, admission, relay));
    this.#forwarding = openForwarding(object, region, copy, ledger, limits, link);
    this.#clock = openSeatClock(kv, object.journal);
    this.#answerCall = openAnswerCall(copy, ledger, limits, relay);
  }

  /** Answers a verify that has nothing but a license key, or lets home answer it. */
  async verify(
    presented: PresentedKey,
    licenseKey: string,
    callId: string,
    canSign: boolean,
    lastWait: Wait | null = null,
  ): Promise<ReplyText> {
    const input = { license_key: licenseKey };
    return this.#answer({ presented, name: 'verify', input, isPlain: true, callId, canSign }, lastWait);
  }

  /** Answers an application's verify, or lets home answer it. */
  async application(
    presented: PresentedKey,
    name: CallName,
    input: CallInput,
    callId: string,
    lastWait: Wait | null = null,
  ): Promise<ReplyText> {
    return this.#answer({ presented, name, input, isPlain: false, callId, canSign: true }, lastWait);
  }

  /** Home is about to answer a call that this branch has not answered in time. Returns whether it is counted here. */
  claim(callId: string): boolean {
    return this.#forwarding.claim(callId);
  }

  /** Home tells what has changed. The answer confirms it, once it is on disk. */
  tell(update: BranchUpdate): Promise<Report> {
    return this.#link.tell(update);
  }

  /**
   * Drops the copies of home's rows, unless home has told which ones to drop. Events that were created before are in the outbox
   * afterwards.
   */
  async eraseTraces(isTold = false): Promise<void> {
    this.#object.journal.change(() => {
      if (!isTold) this.#copy.dropAll();
    });
    await this.#relay.forward();
  }

  async erase(): Promise<void> {
    await eraseObject(this.ctx);
  }

  override alarm(): Promise<void> {
    return this.#object.alarm.run();
  }

  async #answer(call: Call, lastWait: Wait | null): Promise<ReplyText> {
    const nowMs = Date.now();
    const { traffic } = this.#ledger;
    if (lastWait) traffic.noteWait(this.#region, lastWait, nowMs);
    const reply = this.#answerHere(call, nowMs);
    if (!reply) {
      // Home counts the calls that it answers.
      const forwarded = this.#forwarding.forward(call, nowMs);
      this.#link.renewIfDue(nowMs);
      return (await forwarded) ?? this.#withoutHome();
    }
    if (reply.refused === null) traffic.count(this.#region, this.#region, nowMs);
    this.#link.noteCall(nowMs);
    await this.#object.journal.commit();
    this.#link.renewIfDue(nowMs);
    return writeReply(reply, { region: this.#region, branch: this.#region });
  }

  /** Returns the answer, or null if only home can answer the call. */
  #answerHere(call: Call, nowMs: number): Reply | null {
    const { presented, callId } = call;
    if (this.#forwarding.wasForwarded(callId) || !this.#link.mayAnswer(nowMs)) return null;
    if (!this.#copy.account() || !this.#copy.key(presented.keyId)) return null;
    this.#link.noteAsked(nowMs);
    const here = this.#verdictOn(call, nowMs);
    if (!here) return null;
    const seatsOfCall = { verdictOn: () => here.verdict, isCustomer: () => false };
    const admitted = this.#admission.admit(presented, 'verify', nowMs);
    const reply =
      admitted.refused === null ? this.#answerCall(call, admitted.rate, seatsOfCall, nowMs) : admitted;
    if (reply.refused === 'rate_limit_exceeded') this.#link.noteShort();
    // Home may have more of the limits left.
    if (reply.refused !== null) return reply.refused === 'api_key_invalid' ? reply : null;
    if (here.isSeen) this.#forwarding.noteSeen(call);
    return reply;
  }

  /** Judges a verify from the branch's copies, or returns null if home has to answer, because the call may change a seat. */
  #verdictOn({ name: call, input, isPlain }: Call, nowMs: number): VerdictHere | null {
    const license = this.#copy.findLicense(input.license_key);
    if (!license || call !== 'verify') return null;
    const today = isoDate(nowMs);
    const ownTerms = this.#copy.termsOf(license);
    if (isPlain && !ownTerms) return { verdict: plainVerdict(license, today), isSeen: false };
    const terms = ownTerms ?? NO_TERMS;
    const seatMs = this.#clock.read(nowMs);
    const machine = input.fingerprint ? this.#copy.machine(license, input.fingerprint) : null;
    const used = this.#copy.usedSeats(license, seatMs);
    const isKnown = isCopied(terms, machine, seatMs) && (terms.maxActivations === null || used !== null);
    if (!isKnown && !hasNoSeats(terms, input.fingerprint)) return null;
    const count = () => ({ used: used ?? 0, recent: 0 });
    const situation = { call, input, license, terms, machine, other: null, count, today, nowMs: seatMs };
    const { code, changes } = judge(situation);
    if (changes.some(({ kind }) => kind !== 'see')) return null;
    return { verdict: toVerdict(situation, code, machine), isSeen: changes.length > 0 };
  }

  /** Lets the Worker ask home itself. While the branch has a lease, it still answers other calls. */
  #withoutHome(): ReplyText {
    const branch = this.#link.mayAnswer(Date.now()) ? this.#region : undefined;
    return writeReply({ refused: 'unavailable' }, { region: this.#region, branch });
  }
}
