import type { Region } from '../../../src/shared/rules/regions.ts';
import type { Edit } from '../machine/load.ts';
import type { Fault } from '../machine/network.ts';
import type { Schedule, Step } from '../schedule.ts';

/** A rule of the shipped code that is broken on purpose, and a schedule in which it breaks a promise. */
interface Mutant {
  edits: readonly Edit[];
  schedule: Omit<Schedule, 'seed'>;
}

/** By what is wrong. */
export type Mutants = Record<string, Mutant>;

export const edit = (file: string, find: string, replace: string): Edit => ({
  file: `src/gate/${file}`,
  find,
  replace,
});

/** Nothing happens but the steps. */
export const inOrder = (steps: Step[], conditions: Partial<Schedule> = {}): Mutant['schedule'] => ({
  beforeMonthEndMs: Infinity,
  drift: {},
  plans: 'grants',
  loss: 0,
  slow: 0,
  gapMs: 0,
  isWarm: true,
  isExhausted: false,
  ...conditions,
  steps,
});

/** The same without branches in the beginning. */
export const inOrderFromCold = (steps: Step[]) => inOrder(steps, { isWarm: false });

// Steps by short names.

export const pass = (ms: number): Step => ({ does: 'pass', ms });
export const verify = (region: Region, license = 0, times = 1): Step => ({
  does: 'verify',
  region,
  license,
  times,
});
export const toggle = (license = 0): Step => ({ does: 'toggle', license });
export const crash = (kind: string): Step => ({ does: 'crash', kind });
export const cut = (branch: string): Step => ({ does: 'cut', link: ['home', branch] });
export const flood: Step = { does: 'flood', times: 25 };
export const heal: Step = { does: 'heal' };
export const letGo: Step = { does: 'letGo' };
export const fault = (
  does: Fault['does'],
  method: string,
  side: Fault['side'],
  at: string,
  more: Partial<Fault> = {},
): Step => ({
  does: 'fault',
  fault: { does, method, side, at, ...more },
});

export const repeat = (count: number, ...steps: Step[]): Step[] =>
  Array.from({ length: count }, () => steps).flat();

/** Opens a branch that has a copy of one license. */
export const open = (region: Region): Step[] => repeat(6, verify(region), pass(500));
