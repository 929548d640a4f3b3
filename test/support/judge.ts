import { judge, type Judgment, type Situation } from '../../src/gate/rules/judge.ts';
import type { CopiedLicense } from '../../src/gate/rules/rows.ts';
import type { Machine, Seat } from '../../src/gate/rules/seats.ts';
import { HOUR_MS, isoDate } from '../../src/shared/rules/dates.ts';
import { NO_TERMS, type Terms } from '../../src/shared/rules/terms.ts';
import type { CallInput, CallName } from '../../src/shared/rules/verdict.ts';

export const NOW = Date.UTC(2026, 10, 22);

export const NODE_LOCKED: Terms = { ...NO_TERMS, maxActivations: 2 };
export const FLOATING: Terms = { ...NODE_LOCKED, leaseSeconds: 3_600 };
export const UNLIMITED: Terms = { ...NODE_LOCKED, maxActivations: null };

const LICENSE: CopiedLicense = {
  id: 'lic_1',
  licenseKey: 'L-1',
  customerEmail: 'ada@example.com',
  status: 'active',
  expiresAt: null,
  product: null,
  terms: {},
  updatesUntil: null,
};

export const ENDED: CopiedLicense = { ...LICENSE, expiresAt: '2026-11-01', updatesUntil: '2026-11-01' };

export const seatOf = (fields: Partial<Seat> = {}): Seat => ({
  activatedAtMs: NOW - HOUR_MS,
  lastSeenAtMs: NOW - 60_000,
  countedAtMs: NOW - 60_000,
  leaseUntilMs: null,
  fileUntilMs: null,
  releasedAtMs: null,
  ...fields,
});

export const machineOf = (n: number, seat: Seat): Machine => ({
  id: `act_${n}`,
  licenseId: LICENSE.id,
  fingerprint: `machine-${n}`,
  name: null,
  platform: null,
  appVersion: null,
  seat,
});

export interface Given extends Partial<Pick<Situation, 'terms' | 'count' | 'license'>> {
  input?: Partial<CallInput>;
  /** The machine's seat, and that of another machine which it asks for. */
  seat?: Seat | null;
  other?: Seat;
  used?: number;
  recent?: number;
}

/** A call of the first machine. */
export const situationOf = (call: CallName, given: Given = {}): Situation => {
  const { input = {}, seat = null, other, used = 0, recent = used, ...rest } = given;
  return {
    call,
    input: { license_key: 'L-1', fingerprint: 'machine-1', ...input },
    license: LICENSE,
    terms: NODE_LOCKED,
    machine: seat && machineOf(1, seat),
    other: other ? machineOf(2, other) : null,
    count: () => ({ used, recent }),
    today: isoDate(NOW),
    nowMs: NOW,
    ...rest,
  };
};

/** What a judgment says and changes. `seat` is what becomes of the first machine's seat, or null if nothing is written. */
export const summaryOf = <Code>({ code, changes }: Judgment<Code>) => {
  const own = changes.find(({ machine }) => machine.fingerprint === 'machine-1');
  return {
    code,
    seat: own?.machine.seat ?? null,
    kinds: changes.map(({ kind, machine }) => `${kind} ${machine.fingerprint}`),
  };
};

export const decide = (call: CallName, given: Given = {}) => summaryOf(judge(situationOf(call, given)));
