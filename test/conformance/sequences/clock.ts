import { LICENSE_KEY } from '../world.ts';
import { ACTIVATE, activated, at, clock, DOWN, GO, KILL, LOOK, no, REFRESH, type Sequence, step, STOP, STORED, UP, VALID } from './words.ts';

const DAY = 86_400;
const HOUR = 3_600;

export const clockSequences: Sequence[] = [
  {
    name: 'A clock that was in 2036 for one start locks nobody out',
    steps: [
      step('', { seller: 'issue_file', days: 180, as: 'file' }),
      step('', DOWN),
      step('', GO, no('key_missing')),
      step('', { call: 'load_file', file: 'file' }, STORED),
      step('1m', STOP),
      step('1d', clock(3_650 * DAY)),
      step('1d', GO, no('offline_expired', 'stored')),
      step('1d 1m', STOP),
      step('1d 2m', clock(0)),
      step('1d 2m', GO, STORED),
    ],
  },
  {
    name: 'A file that is issued now ends what a clock that was ahead has left behind',
    steps: [
      step('', { seller: 'issue_file', days: 180, as: 'first' }),
      step('', DOWN),
      step('', GO),
      step('', { call: 'load_file', file: 'first' }, STORED),
      step('1m', KILL),
      step('1d', clock(100 * DAY)),
      step('1d', GO, STORED),
      step('1d', KILL),
      step('1d 1m', clock(0)),
      step('1d 1m', GO, { code: 'clock_rolled_back', valid: false, problem: 'clock' }),
      step('1d 1m', { seller: 'issue_file', days: 190, as: 'second' }),
      step('1d 2m', { call: 'load_file', file: 'second' }, STORED),
      step('1d 3m', STOP),
      step('2d', GO, STORED),
    ],
  },
  {
    name: 'A clock that is two hours ahead at the activation, and then put right',
    steps: [
      step('', clock(2 * HOUR)),
      ...activated(),
      step('5m', clock(0)),
      step('5m', DOWN),
      step('10m', GO, STORED),
      step('1h', LOOK, STORED),
    ],
  },
  {
    name: 'A clock that is 20 days behind at the activation, and then put right',
    steps: [
      step('', clock(-20 * DAY)),
      ...activated(),
      step('5m', clock(0)),
      step('5m', DOWN),
      step('10m', GO, STORED),
      step('11m', STOP),
      step('13d', GO, STORED),
    ],
  },
  {
    name: 'A clock that is put right while the program runs',
    steps: [
      step('', clock(3 * HOUR)),
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', DOWN),
      step('10m', clock(0)),
      step('15m', LOOK, VALID),
      step('5d', LOOK, VALID),
    ],
  },
  {
    name: 'A clock that is wrong by years is corrected by a fresh answer',
    steps: [
      step('', clock(-1_000 * DAY)),
      ...activated(),
      step('5m', DOWN),
      step('10m', GO, STORED),
      step('11m', STOP),
      step('13d 23h 50m', GO, STORED),
      step('14d 1m', LOOK, no('offline_expired', 'stored')),
    ],
  },
  {
    name: 'A clock that is set back gives no more days',
    steps: [
      ...activated(),
      step('5m', DOWN),
      step('13d', GO, STORED),
      step('13d', STOP),
      step('15d', GO, no('offline_expired', 'stored')),
      step('15d 1m', STOP),
      step('15d 2m', clock(-10 * DAY)),
      step('15d 2m', GO, { code: 'clock_rolled_back', valid: false, problem: 'clock' }),
      step('15d 5m', UP),
      step('15d 5m', REFRESH, VALID),
    ],
  },
  {
    name: 'A clock that is set back while the program runs gives no more days',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', DOWN),
      step('10d', LOOK, VALID),
      step('10d', clock(-9 * DAY)),
      step('10d 2m', LOOK, { code: 'clock_rolled_back', valid: false, problem: 'clock' }),
      step('10d 3m', clock(0)),
      step('10d 5m', LOOK, VALID),
    ],
  },
  {
    name: 'A clock that differs by five minutes is no other clock',
    steps: [
      ...activated(),
      step('5m', DOWN),
      step('1d', GO, STORED),
      step('1d', clock(-280)),
      step('1d 2m', LOOK, STORED),
      step('1d 3m', clock(280)),
      step('1d 5m', LOOK, STORED),
      step('1d 6m', clock(0)),
      step('1d 7m', LOOK, STORED),
    ],
  },
  {
    name: 'A clock that was set back for a day doesn’t keep a revocation away',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('2h', clock(-DAY)),
      step('3h', { seller: 'revoke' }),
      step('1d 12h', LOOK, no('revoked', 'network')),
    ],
  },
  {
    name: 'A token ends to the second',
    world: { licenses: [{ license_key: LICENSE_KEY, expires_at: at('2d').slice(0, 10) }] },
    steps: [...activated(), step('5m', DOWN), step('2d 11h 59m 50s', GO, STORED), step('2d 12h', LOOK, no('offline_expired', 'stored'))],
  },
];
