import * as fc from 'fast-check';
import type { Region } from '../../src/shared/rules/regions.ts';
import type { CallName } from '../../src/shared/rules/verdict.ts';
import { BRANCHES, FLOAT, KEYS, LICENSES, NODES, REGIONS } from './account.ts';
import type { Ask } from './callers.ts';
import type { Fault } from './machine/network.ts';
import type { Conditions } from './simulation.ts';
import { HOME, type Settings } from './world.ts';

// Random schedules: what callers and the seller do, and what happens to the network, the objects and their clocks.

export type Step =
  | ({ does: 'verify'; times?: number } & Omit<Ask, 'call'>)
  | { does: 'seat'; call: CallName; region: Region; license: number; machine: string }
  | { does: 'flood'; times: number }
  | { does: 'toggle'; license: number }
  | { does: 'rotate'; license: number }
  | { does: 'change'; what: 'setTerms' | 'create' | 'changePlan' }
  | { does: 'deleteKey'; key: number }
  | { does: 'release'; license: number; machine: string }
  | { does: 'move'; region: Region }
  | { does: 'pass'; ms: number }
  | { does: 'crash'; kind: string }
  /** The isolate of the Worker is replaced by another one. */
  | { does: 'restart'; region: Region }
  | { does: 'replace'; kind: string; from: string }
  | { does: 'setClock'; kind: string; ms: number }
  | { does: 'cut'; link: readonly [string, string] }
  /** A change while home can't reach a branch. */
  | { does: 'strand'; branch: Region; license: number; crashes: boolean }
  | { does: 'heal' }
  /** Lets messages go on that are held. */
  | { does: 'letGo' }
  | { does: 'fault'; fault: Fault }
  /** The operator changes a setting, and home starts with it. */
  | { does: 'set'; settings: Partial<Settings> };

export interface Schedule extends Conditions {
  /** The part of all messages that are lost, or come seconds late. */
  loss: number;
  slow: number;
  /** Whether the branches are open in the beginning, and have copies of all licenses. */
  isWarm: boolean;
  /** Whether the usage limit is reached in the end. */
  isExhausted: boolean;
  steps: Step[];
  /** The longest time between two steps, apart from steps that let time pass. */
  gapMs: number;
}

type Fields<S> = { [K in keyof Omit<S, 'does'>]: fc.Arbitrary<Omit<S, 'does'>[K]> };

const step = <D extends Step['does']>(
  weight: number,
  does: D,
  fields: Fields<Extract<Step, { does: D }>>,
) => ({
  weight,
  arbitrary: fc.record({ does: fc.constant(does), ...fields }) as fc.Arbitrary<unknown> as fc.Arbitrary<Step>,
});

const region = fc.constantFrom(...REGIONS);
const license = fc.nat(LICENSES.length);
const machine = fc.constantFrom('m0', 'm1', 'm2', 'm3');
const seats = fc.constantFrom(NODES, FLOAT);
const object = fc.constantFrom('home', 'home', ...BRANCHES);
const links = [
  ...BRANCHES.map((branch) => ['home', branch] as const),
  ['home', 'd1'],
  ['home', `worker-${HOME}`],
] as const;

const fault: fc.Arbitrary<Fault> = fc.record({
  method: fc.constantFrom(
    'renew',
    'renew',
    'tell',
    'tell',
    'forward',
    'verify',
    'application',
    'close',
    'accept',
    'apply',
    'batch',
  ),
  side: fc.constantFrom('request' as const, 'answer' as const),
  does: fc.constantFrom('lose' as const, 'hold' as const, 'delay' as const),
  ms: fc.constantFrom(1_000, 2_500, 6_000),
});

const anyStep = fc.oneof(
  step(14, 'verify', {
    region,
    license,
    machine: fc.option(machine, { freq: 2 }),
    key: fc.constantFrom(0, 0, 0, ...Array.from({ length: KEYS }, (_, i) => i)),
    keysAgo: fc.constantFrom(0, 0, 0, 1),
    times: fc.constantFrom(1, 1, 1, 3, 8),
  }),
  step(6, 'seat', {
    call: fc.constantFrom('activate', 'activate', 'deactivate', 'heartbeat'),
    region,
    license: seats,
    machine,
  }),
  step(1, 'flood', { times: fc.constantFrom(10, 25) }),
  step(5, 'toggle', { license: fc.nat(LICENSES.length - 1) }),
  step(1, 'rotate', { license: fc.nat(LICENSES.length - 1) }),
  step(3, 'change', { what: fc.constantFrom('setTerms', 'create', 'changePlan') }),
  step(1, 'deleteKey', { key: fc.integer({ min: 1, max: KEYS - 1 }) }),
  step(2, 'release', { license: seats, machine }),
  step(10, 'pass', { ms: fc.constantFrom(200, 1_000, 1_000, 3_000, 10_000, 21_000, 35_000, 70_000) }),
  step(3, 'crash', { kind: object }),
  step(1, 'restart', { region }),
  step(1, 'replace', { kind: object, from: fc.constantFrom('home', ...BRANCHES, `worker-${HOME}`) }),
  step(1, 'setClock', { kind: object, ms: fc.constantFrom(-1_300, 1_300) }),
  step(3, 'strand', {
    branch: fc.constantFrom(...BRANCHES),
    license: fc.nat(LICENSES.length - 1),
    crashes: fc.boolean(),
  }),
  step(2, 'cut', { link: fc.constantFrom(...links) }),
  step(2, 'heal', {}),
  step(1, 'letGo', {}),
  step(6, 'fault', { fault }),
  step(1, 'set', {
    settings: fc.oneof(
      fc.record({ REGIONS: fc.constantFrom('on', 'off') }),
      fc.record({ REGIONS_LEASE_SECONDS: fc.constantFrom('5', '30', '300') }),
    ),
  }),
  step(1, 'move', { region }),
);

const drift = fc.constantFrom(0, 0.009, -0.009);

export const schedule: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.nat(2 ** 31 - 1),
  beforeMonthEndMs: fc.constantFrom(Infinity, Infinity, Infinity, 60_000, 120_000),
  drift: fc.record({ home: drift, oc: drift, weur: drift }),
  plans: fc.constantFrom('grants', 'briefGrants', 'upgrade'),
  loss: fc.constantFrom(0, 0, 0.02),
  slow: fc.constantFrom(0, 0.02, 0.1),
  isWarm: fc.constantFrom(true, true, true, false),
  isExhausted: fc.constantFrom(true, false, false),
  gapMs: fc.constant(400),
  steps: fc.array(anyStep, { minLength: 10, maxLength: 40, size: 'max' }),
});
