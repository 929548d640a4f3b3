import { graceUntil } from '../../shared/rules/licenses.ts';
import { tokenEndMs } from '../../shared/rules/tokens.ts';
import type { Verdict, VerdictCode } from '../../shared/rules/verdict.ts';
import {
  judge,
  type Judgment,
  type MachineChange,
  release,
  type Situation,
  stateWithin,
  toVerdict,
} from './judge.ts';
import { type Description, isLive, isRecent, type Machine, type Seat } from './seats.ts';

// What a seller's call does with seats: it releases one, issues an offline file that holds one, or adds machines of an import.
// Home applies the changes.

export type ReleaseResult = 'released' | 'not_found' | 'held_by_file';

/** A seat that an offline file holds is only released by force. */
export const judgeRelease = (
  machine: Machine | null,
  isForced: boolean,
  nowMs: number,
): Judgment<ReleaseResult> => {
  if (!machine || (machine.seat.releasedAtMs !== null && !isLive(machine.seat, nowMs)))
    return { code: 'not_found', changes: [] };
  if ((machine.seat.fileUntilMs ?? 0) > nowMs && !isForced) return { code: 'held_by_file', changes: [] };
  return { code: 'released', changes: [release(machine, nowMs, true)] };
};

export interface FileRequest {
  licenseKey: string;
  fingerprint?: string | undefined;
  /** For how many days the file is good, instead of the terms' `offline_days`. */
  days?: number | undefined;
  /** When the first call was made that this one may repeat. Its file ends as if it had been issued then. */
  firstMs?: number | undefined;
}

/** What an offline file says, or why there is none. */
export type FileVerdict =
  | { refused: VerdictCode | 'days_required' | 'storage_limit_reached' }
  | { refused: null; verdict: Verdict & { code: 'valid' }; issuedAtMs: number };

type Days = FileRequest['days'];

const daysOf = ({ terms }: Situation, days: Days) => days ?? terms.offlineDays;

const holdUntil = <Change extends MachineChange>(change: Change, fileUntilMs: number): Change => {
  const { machine } = change;
  return { ...change, machine: { ...machine, seat: { ...machine.seat, fileUntilMs } } };
};

/**
 * Decides whether a file is issued. The machine takes or renews a seat as if it activated, and the file holds the seat until it
 * ends, unless another file holds it for longer. Without a limit, the file needs no seat.
 */
export const judgeFile = (
  situation: Situation,
  days: Days,
  issuedAtMs = situation.nowMs,
): Judgment<VerdictCode | 'days_required'> => {
  const { license, terms, machine, today } = situation;
  if (!license) return { code: 'not_found', changes: [] };
  const state = stateWithin(license, terms.graceDays, today);
  if (state !== 'active') return { code: state, changes: [] };
  const offline_days = daysOf(situation, days);
  if (offline_days === 0) return { code: 'days_required', changes: [] };
  if (terms.maxActivations === null) return { code: 'valid', changes: [] };
  const { code, changes } = judge(situation);
  const last = changes.at(-1) ?? (machine && { kind: 'renew', machine, action: null });
  if (code !== 'valid' || !last) return { code, changes };
  const { expiresAt: expires_at } = license;
  const grace_until = graceUntil(expires_at, terms.graceDays);
  const fileUntilMs = tokenEndMs({ offline_days, expires_at, grace_until, activation: null }, issuedAtMs);
  if (fileUntilMs <= (last.machine.seat.fileUntilMs ?? 0)) return { code, changes };
  return { code, changes: [...changes.slice(0, -1), holdUntil(last, fileUntilMs)] };
};

/** Returns what the file says. `machine` is as it is once the file has been issued. */
export const fileVerdict = (
  situation: Situation,
  days: Days,
  machine: Machine | null,
): Verdict & { code: 'valid' } => {
  const holder = situation.terms.maxActivations === null ? null : machine;
  const { activation, ...said } = toVerdict(situation, 'valid', holder);
  return {
    ...said,
    code: 'valid',
    offline_days: daysOf(situation, days),
    // The file holds the seat, whatever the lease.
    activation: activation && { ...activation, lease_until: null },
  };
};

/** A machine of an import. */
export interface ImportedMachine extends Description {
  licenseKey: string;
  fingerprint: string;
  seat: Seat;
}

/**
 * `skipped` is a machine that has held no seat within the last 30 days, `too_many_changes` one that is beyond the changes of
 * the day.
 */
export type ImportedMachineResult =
  | 'created'
  | 'unchanged'
  | 'skipped'
  | 'no_seat'
  | 'storage_limit_reached'
  | 'license_not_found'
  | 'too_many_changes';

/** Adds a machine, unless the license knows it. A machine that holds a seat gets one only if one is free. */
export const judgeImport = (
  { fingerprint, name, platform, appVersion, seat }: ImportedMachine,
  { license, terms, machine, count, nowMs }: Situation,
): Judgment<ImportedMachineResult> => {
  if (!license) return { code: 'license_not_found', changes: [] };
  if (!isRecent(seat, nowMs)) return { code: 'skipped', changes: [] };
  if (machine) return { code: 'unchanged', changes: [] };
  const isHolder = isLive(seat, nowMs);
  const limit = terms.maxActivations;
  if (isHolder && limit !== null && count().used >= limit) return { code: 'no_seat', changes: [] };
  const added = { id: null, licenseId: license.id, fingerprint, name, platform, appVersion, seat };
  const kind = isHolder ? 'take' : 'add';
  return { code: 'created', changes: [{ kind, machine: added, action: null }] };
};
