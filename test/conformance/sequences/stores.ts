import { ACTIVATE, activated, DOWN, GO, KILL, LOOK, no, REFRESH, type Sequence, step, STOP, STORED, UP, VALID } from './words.ts';

export const storeSequences: Sequence[] = [
  {
    name: 'A store that fails leaves the license to the process',
    steps: [
      step('', { store: 'fails' }),
      step('', GO, { ...no('key_missing'), problem: 'store' }),
      step('', ACTIVATE, { ...VALID, problem: 'store' }),
      step('2d', LOOK, VALID),
      step('2d', STOP),
      step('2d 1m', GO, { ...no('key_missing'), problem: 'store' }),
    ],
  },
  {
    name: 'A store that never answers doesn’t keep a program from starting',
    steps: [
      ...activated(),
      step('1h', { store: 'hangs' }),
      step('1h', GO, { valid: false, problem: 'store' }),
      step('1h 1m', ACTIVATE, { ...VALID, problem: 'store' }),
    ],
  },
  {
    name: 'A store that fails for a while loses nothing',
    steps: [
      ...activated(),
      step('1h', { store: 'fails' }),
      step('1h', GO, { valid: false, problem: 'store' }),
      step('1h 1m', STOP),
      step('2h', { store: 'works' }),
      step('2h', DOWN),
      step('2h', GO, { ...STORED, problem: null }),
    ],
  },
  {
    name: 'A store that can’t be read at the start is read again',
    steps: [
      ...activated(),
      step('1h', { store: 'fails' }),
      step('1h', GO, { ...no('key_missing'), problem: 'store' }),
      step('2h', LOOK, { ...no('key_missing'), problem: 'store' }),
      step('2h', { store: 'works' }),
      step('2h 5m', LOOK, { code: 'valid', problem: null }),
    ],
  },
  {
    name: 'A full disk keeps what was stored before',
    steps: [
      ...activated(),
      step('2d', { store: 'full' }),
      step('2d', GO, STORED),
      step('2d 1m', REFRESH, { ...VALID, problem: 'store' }),
      step('2d 2m', KILL),
      step('2d 3m', DOWN),
      step('13d', GO, STORED),
    ],
  },
  {
    name: 'A store with a broken text is as an empty one',
    steps: [
      ...activated(),
      step('1h', { store: 'broken' }),
      step('1h', GO, no('key_missing')),
      step('1h', ACTIVATE, VALID),
      step('1h 1m', STOP),
      step('1h 2m', DOWN),
      step('1h 2m', GO, STORED),
    ],
  },
  {
    name: 'A store that is lost needs the license key again, and takes no second seat',
    steps: [
      ...activated(),
      step('1h', { store: 'lost' }),
      step('1h', GO, no('key_missing')),
      step('1h', ACTIVATE, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'A store that is lost under a running program is written again',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', { store: 'lost' }),
      step('2h', LOOK, VALID),
      step('1d 12h', LOOK, VALID),
      step('1d 12h', KILL),
      step('1d 13h', DOWN),
      step('1d 13h', GO, STORED),
    ],
  },
  {
    name: 'A store of before doesn’t undo a signed no in a running program',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', { store: 'saved' }),
      step('1h', { seller: 'revoke' }),
      step('1h', REFRESH, no('revoked', 'network')),
      step('1h 1m', { store: 'restored' }),
      step('1h 2m', DOWN),
      step('1h 2m', REFRESH, no('revoked', 'network')),
    ],
  },
  {
    name: 'A store of before ends when its token does',
    steps: [
      ...activated(),
      step('1h', { store: 'saved' }),
      step('2h', { seller: 'revoke' }),
      step('2d', GO),
      step('2d 1m', LOOK, no('revoked', 'network')),
      step('2d 1m', STOP),
      step('2d 2m', { store: 'restored' }),
      step('2d 2m', DOWN),
      step('14d 1m', GO, { valid: false }),
      step('14d 2m', UP),
      step('14d 2m', REFRESH, no('revoked', 'network')),
    ],
  },
];
