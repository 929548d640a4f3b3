import type { ServiceEvent } from '../double/service.ts';
import { FINGERPRINT, LICENSE_KEY, PRODUCT, START, TERMS, type World } from '../world.ts';

// The words of the sequences. conformance/README.md defines them.

export interface Program {
  /** Which program on the machine, if it isn't the first one. They share the store. */
  program?: string;
}

/** A call of the client. `state` only looks. To replace takes the seat of the first machine that the state lists. */
export type ClientCall = Program &
  (
    | { call: 'start' | 'state' | 'refresh' | 'deactivate' | 'forget' | 'stop' }
    | { call: 'activate'; license_key?: string; replace?: boolean; lease_seconds?: number }
    | { call: 'load_file'; file: string; replace?: boolean }
  );

export type MachineEvent =
  | ({ machine: 'kill' } & Program)
  | { machine: 'sleep' | 'wake' }
  | { machine: 'clock'; ahead_seconds: number };

/** What becomes of the text that the store keeps, or how the store fails. */
export interface StoreEvent {
  store: 'works' | 'fails' | 'full' | 'hangs' | 'lost' | 'broken' | 'saved' | 'restored';
}

/** `as` names the file that the seller issues, for `load_file`. */
type Happening = ServiceEvent & { as?: string };

export type SequenceEvent = ClientCall | MachineEvent | StoreEvent | Happening;

export interface Expectation {
  code?: string;
  valid?: boolean;
  source?: 'network' | 'stored' | 'none';
  /** The kind of the problem, or null. */
  problem?: string | null;
  /** The calls that were counted as usage since the sequence began: so many, or between two numbers. */
  counted?: number | [least: number, most: number];
  /** The seats that the license uses. */
  seats?: number;
  /** Whether no listener was told of a license that isn't valid since the program's call before. */
  unbroken?: boolean;
}

export interface Step {
  at: string;
  event: SequenceEvent;
  expect?: Expectation;
}

/** What the application says about itself, if it says something else than at the top of the file. */
export interface Application {
  fingerprint?: string | null;
  product?: string | null;
  release_date?: string;
  heartbeat?: 'auto' | 'off';
}

export interface Sequence {
  name: string;
  application?: Application;
  world?: World;
  steps: Step[];
}

const UNITS = { d: 86_400, h: 3_600, m: 60, s: 1 };

/** A time since the beginning, such as `13d 23h`, as the time of the service. */
export const at = (since: string): string => {
  const seconds = [...since.matchAll(/(\d+)([dhms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNITS[unit as keyof typeof UNITS],
    0,
  );
  return new Date(Date.parse(START) + seconds * 1_000).toISOString();
};

export const step = (since: string, event: SequenceEvent, expect?: Expectation): Step => ({
  at: at(since),
  event,
  ...(expect && { expect }),
});

export const VALID: Expectation = { code: 'valid', valid: true, source: 'network' };
export const STORED: Expectation = { code: 'valid', valid: true, source: 'stored' };
export const no = (code: string, source: Expectation['source'] = 'none'): Expectation => ({
  code,
  valid: false,
  source,
});

export const ACTIVATE: ClientCall = { call: 'activate', license_key: LICENSE_KEY };
export const [LOOK, GO, STOP, REFRESH, DEACTIVATE] = (
  ['state', 'start', 'stop', 'refresh', 'deactivate'] as const
).map((call): ClientCall => ({ call })) as [ClientCall, ClientCall, ClientCall, ClientCall, ClientCall];
export const KILL: MachineEvent = { machine: 'kill' };
export const DOWN: Happening = { network: 'down' };
export const UP: Happening = { network: 'up' };
export const clock = (ahead_seconds: number): MachineEvent => ({ machine: 'clock', ahead_seconds });

/** The machine has activated the license on an earlier day, and the program has ended. */
export const activated = (): Step[] => [step('', GO), step('', ACTIVATE, VALID), step('1m', STOP)];

const APPLICATION: Application = { fingerprint: FINGERPRINT, product: PRODUCT, heartbeat: 'auto' };

export const sequenceFile = (about: string, sequences: Sequence[]) => ({
  about,
  start: START,
  application: APPLICATION,
  world: { licenses: [{ license_key: LICENSE_KEY }], products: { [PRODUCT]: TERMS } },
  sequences,
});
