import {
  ACTIVATE,
  activated,
  DOWN,
  GO,
  LOOK,
  no,
  REFRESH,
  type Sequence,
  step,
  STOP,
  STORED,
  UP,
  VALID,
} from './words.ts';

const refused = (code: 'rate_limit_exceeded' | 'usage_limit_exceeded', retry_after: number) =>
  ({ network: 'error', code, retry_after }) as const;

export const networkSequences: Sequence[] = [
  {
    name: 'An outage locks nobody out within offline_days',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', DOWN),
      step('13d 23h', LOOK, VALID),
      step('13d 23h', REFRESH, { ...VALID, problem: 'network' }),
      step('13d 23h 30m', STOP),
      step('13d 23h 50m', GO, STORED),
    ],
  },
  {
    name: 'After offline_days, the program asks until the network is back',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', DOWN),
      step('1h', { machine: 'sleep' }),
      step('13d 23h', { machine: 'wake' }),
      step('14d 1m', LOOK, no('offline_expired', 'network')),
      step('14d 2h', UP),
      step('14d 2h 5m', LOOK, VALID),
    ],
  },
  {
    name: 'A laptop wakes, and the Wi-Fi comes five seconds later',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', { machine: 'sleep' }),
      step('20d', DOWN),
      step('20d', { machine: 'wake' }),
      step('20d 5s', UP),
      step('20d 2m 30s', LOOK, VALID),
    ],
  },
  {
    name: 'A first activation without a network, and then with one',
    steps: [
      step('', DOWN),
      step('', GO, no('key_missing')),
      step('1m', ACTIVATE, { ...no('inconclusive'), problem: 'network' }),
      step('2m', UP),
      step('2m', { call: 'activate' }, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'Answers that are lost take no second seat',
    steps: [
      step('', GO),
      step('', { network: 'loses_answers', times: 2 }),
      step('', ACTIVATE, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'A network that answers nothing doesn’t keep a program from starting',
    steps: [
      ...activated(),
      step('2d', { network: 'hangs' }),
      step('2d', GO, STORED),
      step('2d 5m', LOOK, STORED),
      step('2d 6m', UP),
      step('2d 6m', REFRESH, VALID),
    ],
  },
  {
    name: 'A network that answers nothing ends an activation in half a minute',
    steps: [
      step('', GO),
      step('', { network: 'hangs' }),
      step('', ACTIVATE, { ...no('inconclusive'), problem: 'network' }),
      step('1m', UP),
      step('1m', ACTIVATE, VALID),
    ],
  },
  {
    name: 'A short Retry-After is waited for',
    steps: [
      step('', GO),
      step('', { ...refused('rate_limit_exceeded', 20), times: 1 }),
      step('', ACTIVATE, VALID),
    ],
  },
  {
    name: 'A 429 without Retry-After is tried again',
    steps: [
      step('', GO),
      step('', { network: 'error', code: 'rate_limit_exceeded', times: 2 }),
      step('', ACTIVATE, VALID),
    ],
  },
  {
    name: 'A long Retry-After isn’t waited for, and a person may ask at once',
    steps: [
      step('', GO),
      step('', refused('rate_limit_exceeded', 3_600)),
      step('', ACTIVATE, { ...no('inconclusive'), problem: 'refused' }),
      step('10s', UP),
      step('10s', ACTIVATE, VALID),
    ],
  },
  {
    name: 'What happens by itself minds a long Retry-After of the service',
    steps: [
      ...activated(),
      step('15d', refused('rate_limit_exceeded', 7_200)),
      step('15d', GO, no('offline_expired', 'stored')),
      step('15d 1m', UP),
      step('15d 1h 50m', LOOK, { valid: false, counted: 1 }),
      step('15d 2h 30m', LOOK, VALID),
    ],
  },
  {
    name: 'A spent quota locks no customer out',
    steps: [
      ...activated(),
      step('2d', { seller: 'spend_quota' }),
      step('2d', GO, STORED),
      step('2d 1m', REFRESH, VALID),
      step('2d 2m', STOP),
    ],
  },
  {
    name: 'A spent quota refuses a new machine, and the state says why',
    steps: [
      step('', { seller: 'spend_quota' }),
      step('', GO),
      step('', ACTIVATE, { ...no('inconclusive'), problem: 'quota', seats: 0 }),
      step('10d', ACTIVATE, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'Faults of the service lock nobody out',
    steps: [
      ...activated(),
      step('2d', { network: 'error', code: 'internal_error' }),
      step('2d', GO, STORED),
      step('2d 1m', REFRESH, { ...STORED, problem: 'refused' }),
      step('3d', { network: 'error', code: 'unavailable' }),
      step('3d 1m', REFRESH, STORED),
      step('3d 2m', { network: 'error', code: 'not_found' }),
      step('3d 2m', REFRESH, STORED),
    ],
  },
  {
    name: 'A deleted API key locks nobody out before the token ends',
    steps: [
      ...activated(),
      step('2d', { seller: 'delete_api_key' }),
      step('2d', GO, STORED),
      step('2d 1m', REFRESH, { ...STORED, problem: 'refused' }),
      step('3d', STOP),
      step('13d 23h', GO, STORED),
    ],
  },
];
