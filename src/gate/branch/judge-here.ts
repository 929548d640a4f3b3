import { isoDate } from '../../shared/rules/dates.ts';
import { NO_TERMS } from '../../shared/rules/terms.ts';
import type { PlainVerdict, Verdict } from '../../shared/rules/verdict.ts';
import type { SeatClock } from '../object/seat-clock.ts';
import { changesNoSeat, hasNoSeats, isCopied } from '../rules/branch-seats.ts';
import type { Call } from '../rules/calls.ts';
import { judge, plainVerdict, type Situation, toVerdict } from '../rules/judge.ts';
import type { BranchCopy } from './branch-copy.ts';

export interface JudgedHere {
  verdict: PlainVerdict | Verdict;
  /** Whether home has to note that the machine was seen. */
  isSeen: boolean;
}

/** Judges a verify from the branch's copies, or returns null if home has to answer, because the call may change a seat. */
export const judgeHere = (
  copy: BranchCopy,
  clock: SeatClock,
  { name, input, isPlain }: Call,
  nowMs: number,
): JudgedHere | null => {
  const license = copy.findLicense(input.license_key);
  if (!license || name !== 'verify') return null;
  const today = isoDate(nowMs);
  const ownTerms = copy.termsOf(license);
  if (isPlain && !ownTerms) return { verdict: plainVerdict(license, today), isSeen: false };
  const terms = ownTerms ?? NO_TERMS;
  const seatMs = clock.read(nowMs);
  const machine = input.fingerprint ? copy.machine(license, input.fingerprint) : null;
  const used = copy.usedSeats(license, seatMs);
  const isKnown = isCopied(terms, machine, seatMs) && (terms.maxActivations === null || used !== null);
  if (!isKnown && !hasNoSeats(terms, input.fingerprint)) return null;
  const count = () => ({ used: used ?? 0, recent: 0 });
  const situation: Situation = {
    call: name,
    input,
    license,
    terms,
    machine,
    other: null,
    count,
    today,
    nowMs: seatMs,
  };
  const judgment = judge(situation);
  if (!changesNoSeat(judgment)) return null;
  return { verdict: toVerdict(situation, judgment.code, machine), isSeen: judgment.changes.length > 0 };
};
