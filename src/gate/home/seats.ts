import type { Journal } from '../../shared/objects/journal.ts';
import { DAY_MS, isoDate, isoTime } from '../../shared/rules/dates.ts';
import { NO_TERMS, type Terms } from '../../shared/rules/terms.ts';
import type { CallInput, CallName, PlainVerdict, Verdict, VerdictCode } from '../../shared/rules/verdict.ts';
import type { Call } from '../rules/calls.ts';
import {
  judge,
  type Judgment,
  type MachineChange,
  plainVerdict,
  type Situation,
  toVerdict,
} from '../rules/judge.ts';
import { hasNoSeats, isCopied, type KnownLicense, seatRef } from '../rules/messages.ts';
import type { CopiedLicense } from '../rules/rows.ts';
import { FOREVER_MS, isRecent, type Machine, type SeatActor } from '../rules/seats.ts';
import type { HomeBranches } from './branches.ts';
import type { Copy } from './copy.ts';
import { openSeatNotes, refusalOf } from './seat-history.ts';
import type { HomeStore } from './store.ts';

const NOTHING_KNOWN = { machine: null, other: null, count: () => ({ used: 0, recent: 0 }) };

/** Judges calls by what home knows, and applies the judgment to the machines. */
export const openSeats = (
  { journal }: { journal: Pick<Journal, 'write'> },
  {
    copy,
    machines,
    machineTotals,
    outgoing,
    seatClock,
  }: Pick<HomeStore, 'machines' | 'machineTotals' | 'outgoing' | 'seatClock'> & {
    copy: Pick<Copy, 'account' | 'termsOf'>;
  },
  branches: Pick<HomeBranches, 'log'>,
) => {
  const termsOf = (license: CopiedLicense): Terms => copy.termsOf(license) ?? NO_TERMS;

  const notes = openSeatNotes(copy, machines.history, machineTotals, outgoing);

  /**
   * While the license's seats have leases, branches have no copies of them. A seat that is taken changes only their number, which
   * is one row of the log, however many machines activate. Without a limit, branches don't count seats.
   */
  const logMove = (license: CopiedLicense, fingerprint: string, isTaken: boolean) => {
    const { leaseSeconds, maxActivations } = termsOf(license);
    if (leaseSeconds !== null || (isTaken && maxActivations === null)) return;
    const ref = seatRef(license.licenseKey, isTaken ? '' : fingerprint);
    branches.log([{ kind: 'seat', ref, isNew: isTaken }]);
  };

  const applyOne = (
    actor: SeatActor,
    license: CopiedLicense,
    change: MachineChange,
    nowMs: number,
  ): Machine => {
    const { kind, action } = change;
    const machine = machines.write(change.machine);
    if (kind === 'take' || kind === 'release') {
      seatClock.store();
      logMove(license, machine.fingerprint, kind === 'take');
    }
    if (action !== null) notes.move(actor, license, action, machine, nowMs);
    return machine;
  };

  /** Writes what becomes of machines, with the events. Call it in a transaction. Returns the last one as it is afterwards. */
  const apply = (
    actor: SeatActor,
    license: CopiedLicense,
    changes: MachineChange[],
    nowMs: number,
  ): Machine | null => changes.map((change) => applyOne(actor, license, change, nowMs)).at(-1) ?? null;

  /** What home knows of a call's license and machine. */
  const situationOf = (
    call: CallName,
    input: CallInput,
    license: CopiedLicense | null,
    nowMs: number,
  ): Situation => {
    const seatMs = seatClock.read(nowMs);
    const terms = license ? termsOf(license) : NO_TERMS;
    const { fingerprint, replace } = input;
    const known = license && {
      machine: fingerprint ? machines.read(license.id, fingerprint, seatMs) : null,
      other: replace && terms.selfService ? machines.find(license.id, replace, seatMs) : null,
      count: () => machines.count(license.id, seatMs),
    };
    return { call, input, license, terms, ...(known ?? NOTHING_KNOWN), today: isoDate(nowMs), nowMs: seatMs };
  };

  /** Whether the account may store the machine that a judgment adds, if it adds one. */
  const hasRoomFor = ({ machine, nowMs }: Situation, { changes }: Judgment<string>): boolean => {
    if (machine !== null || changes.length === 0 || !machineTotals.isFull(copy.account(), nowMs)) return true;
    // The bytes may be wrong, so they are added up again.
    machineTotals.pruneBy(nowMs + DAY_MS);
    return false;
  };

  /** Deletes machines for which the license has no room. Branches have copies of those that held seats without leases. */
  const trim = (license: CopiedLicense, terms: Terms, nowMs: number) => {
    if (machines.trim(license.id, terms, nowMs) && terms.leaseSeconds === null)
      branches.log([{ kind: 'machines', ref: license.licenseKey, isNew: true }]);
  };

  /** Applies the judgment on a call. Call it in a transaction. Returns the call's machine as it is afterwards. */
  const carryOut = (
    actor: SeatActor,
    situation: Situation,
    { code, changes }: Judgment<string>,
  ): Machine | null => {
    const { call, license, machine, nowMs } = situation;
    if (!license) return null;
    const refusal = refusalOf(call, code);
    if (refusal) notes.refusal(actor, license, refusal, situation);
    const changed = apply(actor, license, changes, nowMs);
    if (changes.some(({ kind }) => kind === 'take')) trim(license, situation.terms, nowMs);
    return changed ?? machine;
  };

  /** When a machine may try again to take a seat. By then, one is free, or another transfer is allowed. */
  const retryAtMs = (code: VerdictCode, { id }: CopiedLicense, terms: Terms, nowMs: number): number => {
    const { recent, nextEndMs } = machines.count(id, nowMs);
    if (code === 'no_seat') return nextEndMs;
    const allowed = (terms.maxActivations ?? 0) + (terms.maxTransfers ?? 0);
    return machines.goneAtMs(id, recent - allowed + 1, nowMs);
  };

  /** What a machine that got no seat is told. */
  const wayOut = (code: VerdictCode, license: CopiedLicense, { terms, nowMs }: Situation) => {
    if (code !== 'no_seat' && code !== 'transfer_limit') return {};
    const atMs = retryAtMs(code, license, terms, nowMs);
    const toTell =
      code === 'no_seat' && terms.selfService ? machines.listLongestUnseen(license.id, nowMs) : null;
    return {
      retry_at: atMs === FOREVER_MS ? null : isoTime(atMs),
      machines:
        toTell?.map(({ id, name, platform, seat }) => ({
          id,
          name,
          platform,
          last_seen_at: isoTime(seat.lastSeenAtMs),
        })) ?? null,
    };
  };

  return {
    apply,
    trim,
    situationOf,
    carryOut,
    hasRoomFor,

    /**
     * Judges a call, and writes what it changes about seats, all or nothing. Returns null if there is no room for the machine
     * that it adds.
     */
    verdictOn: (
      { name, input, isPlain }: Pick<Call, 'name' | 'input' | 'isPlain'>,
      license: CopiedLicense | null,
      nowMs: number,
      isRepeat = false,
    ): PlainVerdict | Verdict | null => {
      if (isPlain && !(license && copy.termsOf(license))) return plainVerdict(license, isoDate(nowMs));
      const situation = { ...situationOf(name, input, license, nowMs), isRepeat };
      const judgment = judge(situation);
      if (!hasRoomFor(situation, judgment)) return null;
      // A machine that calls often changes its seat only now and then, and needs no transaction until then.
      const isUnchanged = judgment.changes.length === 0 && !refusalOf(name, judgment.code);
      const machine = isUnchanged
        ? situation.machine
        : journal.write(() => carryOut('application', situation, judgment));
      const verdict = toVerdict(situation, judgment.code, machine);
      return license ? { ...verdict, ...wayOut(judgment.code, license, situation) } : verdict;
    },

    /** Whether a call's machine holds a seat of the license, or held one within the last 30 days. */
    isCustomer: (
      { input: { fingerprint } }: Pick<Call, 'input'>,
      license: CopiedLicense | null,
      nowMs: number,
    ): boolean => {
      const seatMs = seatClock.read(nowMs);
      const machine = license && fingerprint ? machines.read(license.id, fingerprint, seatMs) : null;
      return machine !== null && isRecent(machine.seat, seatMs);
    },

    /** Returns what a branch needs to answer such a verify itself, or null if it can't. */
    knownTo: (
      license: CopiedLicense,
      fingerprint: string | undefined,
      nowMs: number,
    ): KnownLicense | null => {
      const terms = copy.termsOf(license);
      const applied = terms ?? NO_TERMS;
      if (hasNoSeats(applied, fingerprint)) return { license, terms, machine: null, count: null };
      const seatMs = seatClock.read(nowMs);
      const machine = fingerprint ? machines.read(license.id, fingerprint, seatMs) : null;
      if (!isCopied(applied, machine, seatMs)) return null;
      if (applied.maxActivations === null) return { license, terms, machine, count: null };
      const { used, nextEndMs } = machines.count(license.id, seatMs);
      return { license, terms, machine, count: { used, untilMs: nextEndMs } };
    },
  };
};

export type Seats = ReturnType<typeof openSeats>;
