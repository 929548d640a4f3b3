import { LEASE_MS } from '../../../src/shared/rules/regions.ts';
import { LONG_MS, type Schedule, type Settings, SHORT_MS, type Step } from './model-steps.ts';
import type { Body, BranchName } from './model-types.ts';

// Schedules in which a broken rule breaks a promise, for rules that random schedules seldom reach.

const flow = (hold: Body['kind'] | null = null): Step => ({ do: 'flow', rounds: 8, hold });
const verify = (branch: BranchName, license = 0, weight = 1): Step => ({
  do: 'verify',
  branch,
  license,
  weight,
  isDirect: false,
});
const change = (license = 0): Step => ({ do: 'change', license });
const time = (ms: number): Step => ({ do: 'time', ms });
const cut = (link: string): Step => ({ do: 'cut', link });
const crash = (node: 'home' | BranchName): Step => ({ do: 'crash', node, link: '' });
const release: Step = { do: 'release' };
const lapse: Step = { do: 'lapse', ms: 0 };

/** Opens a branch that has license 0 in its copy. */
const open = (branch: BranchName): Step[] => [
  change(),
  flow(),
  verify(branch),
  flow(),
  verify(branch),
  flow(),
  verify(branch),
  flow(),
];

/** Gives home a second to offer shares, and the branches one to confirm them. */
const settle = [time(1_000), flow(), time(1_000), flow()];

const schedule = (
  steps: Step[],
  drift = 0,
  settings: Settings[] = [{ leaseMs: LEASE_MS, isOn: true }],
): Schedule => ({
  clocks: {
    home: { drift, offsetMs: 0 },
    A: { drift: -drift, offsetMs: 0 },
    B: { drift: -drift, offsetMs: 0 },
  },
  startMs: 0,
  settings,
  isWarm: false,
  steps,
  isExhausted: false,
});

export const SCENARIOS: Record<string, Schedule> = {
  'a branch counts its lease from the answer': schedule([
    ...open('A'),
    time(20_000),
    verify('A'),
    flow('renewed'),
    time(4_000),
    release,
    { do: 'deliver', pick: 'renewed' },
    cut('home-A'),
    change(),
    flow(),
    lapse,
    flow(),
  ]),
  'a branch ends its lease without a margin': schedule(
    [...open('A'), { do: 'strand', branch: 'A', license: 0, end: 'lapse' }],
    0.01,
  ),
  'a repeated change does not wait after a restart': schedule([
    ...open('A'),
    { do: 'strand', branch: 'A', license: 0, end: 'crash' },
  ]),
  'home forgets a lease that is longer than the setting': schedule(
    [
      ...open('A'),
      crash('home'),
      // The calls keep the branch open until it renews.
      ...Array.from({ length: 5 }, () => [time(40_000), verify('A'), flow()]).flat(),
      time(10_000),
      // A renewal whose answer is lost doesn't shorten the branch's lease.
      flow('renewed'),
      crash('home'),
      cut('home-A'),
      change(),
      flow(),
      time(10_000),
      flow(),
    ],
    0,
    [LONG_MS, SHORT_MS].map((leaseMs) => ({ leaseMs, isOn: true })),
  ),
  'home closes a branch before its last report': schedule(
    [
      ...open('A'),
      // The branch counts a call while its renewal is under way to a home that closes it.
      time(20_000),
      crash('home'),
      verify('A'),
      { do: 'deliver', pick: 'verify' },
      { do: 'deliver', pick: 'renew' },
      flow(),
    ],
    0,
    [true, false].map((isOn) => ({ leaseMs: LEASE_MS, isOn })),
  ),
  'a process that was replaced renews a lease': schedule([
    ...open('A'),
    { do: 'replace', node: 'home', link: 'home-A' },
    change(),
    flow(),
    time(20_000),
    flow(),
    lapse,
    flow(),
  ]),
  'home takes changes for applied that its last answer told': schedule([
    ...open('A'),
    change(),
    flow('tell'),
    time(20_000),
    { do: 'deliver', pick: 'renew' },
    cut('home-A'),
    flow(),
    crash('home'),
    time(3_000),
    flow(),
  ]),
  'a branch keeps a row that has changed meanwhile': schedule([
    ...open('A'),
    change(1),
    flow(),
    verify('A', 1),
    flow('forwarded'),
    change(1),
    flow(),
    release,
    flow(),
  ]),
  'home does not count what it has granted': schedule([
    ...open('A'),
    cut('home-A'),
    ...[40, 40, 40, 40, 40, 6, 6, 6, 6, 6].flatMap((weight): Step[] => [
      { do: 'verify', branch: 'A', license: 0, weight, isDirect: true },
      flow(),
    ]),
    ...Array.from({ length: 20 }, () => [verify('A'), flow()]).flat(),
  ]),
  'home forgets shares when it restarts': schedule([
    ...open('B'),
    verify('A'),
    flow(),
    verify('A'),
    flow('renew'),
    release,
    { do: 'repeat', pick: 'renew' },
    flow('renew'),
    verify('A', 0, 6),
    flow(),
    ...settle,
    crash('home'),
    release,
    { do: 'deliver', pick: 'renew' },
    cut('home-A'),
    verify('B', 0, 6),
    flow(),
    ...settle,
    ...settle,
  ]),
  'a share outlives its lease': schedule([
    ...open('A'),
    ...open('B'),
    ...settle,
    cut('home-A'),
    time(20_000),
    flow(),
    verify('B'),
    flow(),
    lapse,
    flow(),
    ...settle,
    ...settle,
    ...Array.from({ length: 40 }, (): Step => ({ do: 'drop', pick: 'tell' })),
    crash('home'),
    { do: 'heal' },
    flow(),
  ]),
  'home counts a call that its branch has counted': schedule([
    ...open('A'),
    verify('A'),
    { do: 'repeat', pick: 'verify' },
    flow('verify'),
    time(29_000),
    release,
    flow(),
  ]),
  'a repeated call is answered elsewhere': schedule([
    ...open('A'),
    change(1),
    flow(),
    verify('A', 1),
    { do: 'repeat', pick: 'verify' },
    flow('verify'),
    release,
    flow(),
  ]),
};
