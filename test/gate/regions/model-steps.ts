import * as fc from 'fast-check';
import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import { type Body, type BranchName, BRANCHES, LICENSES, type NodeName } from './model-types.ts';

interface Clock {
  drift: number;
  offsetMs: number;
}

/** The shortest lease that an operator can set, and the longest one. */
export const SHORT_MS = 5_000;
export const LONG_MS = 300_000;

type Kind = Body['kind'];

export type Step =
  | { do: 'verify'; branch: BranchName; license: number; weight: number; isDirect: boolean }
  | { do: 'change'; license: number }
  /** One of what is under way, by its number or by its kind. */
  | { do: 'deliver' | 'drop' | 'repeat'; pick: number | Kind }
  /** Delivers everything in order, but holds up the first message of a kind. */
  | { do: 'flow'; rounds: number; hold: Kind | null }
  | { do: 'release' }
  | { do: 'lapse'; ms: number }
  | { do: 'time'; ms: number }
  | { do: 'crash' | 'replace'; node: NodeName; link: string }
  | { do: 'cut'; link: string }
  | { do: 'heal' }
  /** A change while a branch can't be reached, until home takes its lease for ended or after home was restarted. */
  | { do: 'strand'; branch: BranchName; license: number; end: 'lapse' | 'crash' | 'replace' };

/** The operator's settings, which a start of home reads. */
export interface Settings {
  leaseMs: number;
  isOn: boolean;
}

export interface Schedule {
  clocks: Record<NodeName, Clock>;
  /** Where in a period the schedule begins. */
  startMs: number;
  /** The settings of each start of home. The last ones hold for all later starts. */
  settings: readonly Settings[];
  /** Whether the schedule begins with open branches that have all licenses in their copies. */
  isWarm: boolean;
  steps: Step[];
  isExhausted: boolean;
}

const clockOf = (...drifts: number[]) =>
  fc.record({ drift: fc.constantFrom(...drifts), offsetMs: fc.constantFrom(0, -4_000, 7_000) });
const node = fc.constantFrom<NodeName[]>('home', 'home', ...BRANCHES);
const license = fc.nat(LICENSES - 1);
const branch = fc.constantFrom(...BRANCHES);
const pick = fc.nat(1_000);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('verify' as const),
      branch,
      license,
      weight: fc.constantFrom(1, 1, 1, 6, 6, 40),
      isDirect: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('change' as const), license }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('deliver' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('drop' as const, 'repeat' as const), pick }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('flow' as const),
      rounds: fc.constantFrom(1, 2, 6),
      hold: fc.constantFrom<(Kind | null)[]>(
        null,
        null,
        null,
        'renew',
        'renewed',
        'tell',
        'told',
        'forward',
        'forwarded',
        'verify',
        'change',
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'release' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('lapse' as const), ms: fc.constantFrom(0, 0, 100, -300) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('time' as const),
      ms: fc.constantFrom(50, 500, 1_000, 1_000, 3_000, 8_000, 20_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('crash' as const, 'replace' as const),
      node,
      link: fc.constantFrom('home-A', 'home-B', 'worker-home', 'worker-A'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('cut' as const),
      link: fc.constantFrom('home-A', 'home-B', 'worker-home'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'heal' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('strand' as const),
      branch,
      license,
      end: fc.constantFrom('lapse' as const, 'crash' as const, 'replace' as const),
    }),
  },
);

const on = (...lengths: number[]): Settings[] => lengths.map((leaseMs) => ({ leaseMs, isOn: true }));
const off: Settings = { leaseMs: LEASE_MS, isOn: false };
const settings = fc.constantFrom<(readonly Settings[])[]>(
  ...Array.from({ length: 20 }, () => on(LEASE_MS)),
  on(SHORT_MS),
  on(LONG_MS, SHORT_MS),
  on(SHORT_MS, LEASE_MS),
  [...on(LEASE_MS), off],
  [...on(LEASE_MS), off, ...on(LEASE_MS)],
);

export const schedule: fc.Arbitrary<Schedule> = fc.record({
  clocks: fc.record({ home: clockOf(0.01, 0, -0.01), A: clockOf(-0.01, 0.01), B: clockOf(-0.01, 0) }),
  startMs: fc.constantFrom(0, 60_000, 100_000),
  settings,
  isWarm: fc.constantFrom(true, true, true, false),
  steps: fc.array(step, { minLength: 15, maxLength: 40, size: 'max' }),
  isExhausted: fc.constantFrom(true, false, false, false),
});
