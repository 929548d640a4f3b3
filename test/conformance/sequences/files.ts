import { LICENSE_KEY } from '../world.ts';
import { ACTIVATE, DEACTIVATE, DOWN, GO, LOOK, no, REFRESH, type Sequence, step, STOP, STORED, UP, VALID } from './words.ts';

const BOUGHT = 'Acme.Team_0001';
const TRIAL_AND_BOUGHT = {
  licenses: [{ license_key: LICENSE_KEY, expires_at: '2026-11-23' }, { license_key: BOUGHT }],
};
const TWO = { licenses: [{ license_key: LICENSE_KEY }, { license_key: BOUGHT }] };
const issue = (as: string, days = 180, license_key = LICENSE_KEY) =>
  ({ seller: 'issue_file', license_key, days, as }) as const;
const load = (file: string, replace?: boolean) =>
  ({ call: 'load_file', file, ...(replace && { replace }) }) as const;

export const fileSequences: Sequence[] = [
  {
    name: 'A file licenses a machine that never has a network, until it ends',
    steps: [
      step('', issue('file')),
      step('', DOWN),
      step('', GO, no('key_missing')),
      step('', load('file'), { ...STORED, seats: 1 }),
      step('1m', STOP),
      step('179d 23h', GO, STORED),
      step('180d', LOOK, no('offline_expired', 'stored')),
      step('180d', issue('next')),
      step('180d 1h', load('next'), STORED),
    ],
  },
  {
    name: 'The file of the license that was bought replaces a trial that has ended',
    world: TRIAL_AND_BOUGHT,
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('2d', LOOK, no('expired', 'network')),
      step('2d', DOWN),
      step('2d', issue('bought', 180, BOUGHT)),
      step('2d 1m', load('bought'), STORED),
      step('2d 2m', STOP),
      step('20d', GO, STORED),
    ],
  },
  {
    name: 'The file of a license that was bought is good after the trial’s machine has left',
    world: TRIAL_AND_BOUGHT,
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', DEACTIVATE, no('deactivated')),
      step('2h', issue('bought', 180, BOUGHT)),
      step('2h', load('bought'), STORED),
      step('3h', STOP),
      step('4h', DOWN),
      step('4h', GO, STORED),
    ],
  },
  {
    name: 'The file of another license replaces a valid one only if it is asked to',
    world: TWO,
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', issue('other', 180, BOUGHT)),
      step('1h', load('other'), { ...VALID, problem: 'config' }),
      step('2h', load('other', true), STORED),
      step('3h', STOP),
      step('4h', DOWN),
      step('30d', GO, STORED),
    ],
  },
  {
    name: 'A file goes on where the token of a license ends',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', issue('file')),
      step('1h', load('file'), { valid: true }),
      step('2h', DOWN),
      step('2h', STOP),
      step('15d', GO, STORED),
      step('15d 1h', STOP),
      step('100d', GO, STORED),
    ],
  },
  {
    name: 'A machine with a file that leaves gives up its license, but not the seat',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', issue('file')),
      step('1h', load('file')),
      step('2h', DEACTIVATE, { ...no('deactivated'), seats: 1 }),
    ],
  },
  {
    name: 'A signed no ends a file, too',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', issue('file')),
      step('1h', load('file')),
      step('2h', { seller: 'revoke' }),
      step('2h', REFRESH, no('revoked', 'network')),
      step('2h', DOWN),
      step('3h', STOP),
      step('4h', GO, { valid: false }),
      step('5h', UP),
    ],
  },
];
