import { LICENSE_KEY } from '../world.ts';
import { ACTIVATE, activated, DEACTIVATE, DOWN, GO, KILL, LOOK, no, REFRESH, type Sequence, step, STOP, STORED, UP, VALID } from './words.ts';

const hours = (count: number) => Array.from({ length: count }, (_, hour) => hour + 1);

export const programSequences: Sequence[] = [
  {
    name: 'A program that is started every hour makes one counted call a day',
    steps: [
      ...activated(),
      ...hours(18).flatMap((hour) => [step(`${hour}h`, GO, STORED), step(`${hour}h`, STOP)]),
      step('19h', GO, { ...STORED, counted: 1 }),
      step('19h', STOP),
      step('1d 1h', GO, STORED),
      step('1d 1h', STOP),
      step('1d 2h', GO, { ...STORED, counted: 2 }),
    ],
  },
  {
    name: 'A program that runs for a moment each day is renewed each day',
    steps: [
      ...activated(),
      step('1m', { network: 'slow', seconds: 1 }),
      ...hours(20).flatMap((day) => [step(`${day}d`, GO, STORED), step(`${day}d`, STOP)]),
      step('20d 1h', DOWN),
      step('33d', GO, { ...STORED, counted: [20, 21] }),
    ],
  },
  {
    name: 'A program that stops at once on a slow network ends within seconds',
    steps: [
      ...activated(),
      step('2d', { network: 'slow', seconds: 60 }),
      step('2d', GO, STORED),
      step('2d', STOP),
      step('2d 3s', GO, STORED),
    ],
  },
  {
    name: 'A program that is killed right after the activation has its license',
    steps: [step('', GO), step('', ACTIVATE, VALID), step('', KILL), step('1m', DOWN), step('1m', GO, STORED)],
  },
  {
    name: 'A program that is killed during a call goes on with what it had',
    steps: [
      ...activated(),
      step('2d', { network: 'hangs' }),
      step('2d', GO, STORED),
      step('2d 1s', KILL),
      step('2d 2s', GO, STORED),
    ],
  },
  {
    name: 'A machine sleeps for three days without a network',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', { machine: 'sleep' }),
      step('2d', DOWN),
      step('3d', { machine: 'wake' }),
      step('3d 5m', LOOK, VALID),
      step('3d 6m', UP),
      step('3d 2h', LOOK, VALID),
    ],
  },
  {
    name: 'A running program is renewed each day',
    steps: [step('', GO), step('', ACTIVATE, VALID), step('10d', LOOK, { ...VALID, counted: [8, 14] })],
  },
  {
    name: 'A machine that leaves stays without a license until it activates again',
    steps: [
      step('', GO),
      step('', ACTIVATE, { ...VALID, seats: 1 }),
      step('1h', DEACTIVATE, { ...no('deactivated'), seats: 0 }),
      step('1h 1m', STOP),
      step('2h', GO, no('deactivated')),
      step('3d', LOOK, { ...no('deactivated'), counted: 1 }),
      step('3d', { call: 'activate' }, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'A machine leaves although its license is suspended',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', { seller: 'suspend' }),
      step('1h', REFRESH, no('suspended', 'network')),
      step('1h 1m', DEACTIVATE, { ...no('deactivated'), seats: 0 }),
    ],
  },
  {
    name: 'A machine that can’t say that it leaves keeps its seat',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', DOWN),
      step('1h', DEACTIVATE, { ...VALID, seats: 1 }),
      step('1h 1m', UP),
      step('1h 1m', DEACTIVATE, { ...no('deactivated'), seats: 0 }),
    ],
  },
  {
    name: 'A license that is forgotten is gone from this machine, and its seat isn’t',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', { call: 'forget' }, { ...no('key_missing'), seats: 1 }),
      step('1h 1m', STOP),
      step('1h 2m', GO, no('key_missing')),
    ],
  },
  {
    name: 'Two programs on a machine share a license and a seat',
    steps: [
      step('', GO),
      step('', { call: 'start', program: 'second' }, no('key_missing')),
      step('', ACTIVATE, { ...VALID, seats: 1 }),
      step('1m', { call: 'refresh', program: 'second' }, { ...VALID, seats: 1 }),
      step('2m', { call: 'start', program: 'third' }, STORED),
      step('3m', { seller: 'revoke' }),
      step('3m', REFRESH, no('revoked', 'network')),
      step('4m', { call: 'start', program: 'fourth' }, { valid: false }),
    ],
  },
  {
    name: 'Of two programs, the one with a late answer doesn’t undo the newer one’s',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', { call: 'start', program: 'second' }, STORED),
      step('2m', { machine: 'sleep' }),
      step('12d', { machine: 'wake' }),
      step('12d', { call: 'refresh', program: 'second' }, VALID),
      step('12d 1m', { call: 'stop', program: 'second' }),
      step('12d 1m', STOP),
      step('12d 2m', DOWN),
      step('25d', GO, STORED),
    ],
  },
  {
    name: 'An application without a fingerprint needs a license without a limit of seats',
    application: { fingerprint: null },
    world: {
      licenses: [{ license_key: LICENSE_KEY, terms: { max_activations: 'none' } }, { license_key: 'Acme.Team_0001' }],
    },
    steps: [
      step('', GO),
      step('', { call: 'activate', license_key: 'Acme.Team_0001' }, no('fingerprint_required', 'network')),
      step('1m', ACTIVATE, VALID),
      step('2m', STOP),
      step('3m', DOWN),
      step('3m', GO, STORED),
    ],
  },
];
