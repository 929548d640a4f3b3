import { LICENSE_KEY, TERMS } from '../world.ts';
import { ACTIVATE, DOWN, GO, LOOK, no, type Sequence, step, STOP, STORED, UP, VALID } from './words.ts';

const LEASE_S = 900;
const floating = (seats: number, offline_days = 14) => ({
  products: { orrery: { ...TERMS, max_activations: seats, lease_seconds: LEASE_S, offline_days } },
});

export const leaseSequences: Sequence[] = [
  {
    name: 'Heartbeats keep the seat, and count nothing',
    world: floating(1),
    steps: [
      step('', GO),
      step('', ACTIVATE, { ...VALID, seats: 1 }),
      step('6h', LOOK, { ...VALID, seats: 1, counted: 1 }),
      step('1d 6h', LOOK, { ...VALID, seats: 1, counted: [2, 3] }),
    ],
  },
  {
    name: 'Without a network, the lease ends by itself, and is taken again afterwards',
    world: floating(1),
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', DOWN),
      step('14m', LOOK, VALID),
      step('21m', LOOK, { ...no('offline_expired', 'network'), seats: 0 }),
      step('1h', UP),
      step('1h 4m', LOOK, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'A short outage loses no lease',
    world: floating(1),
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('10m', DOWN),
      step('13m', UP),
      step('1h', LOOK, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'A machine that wakes takes its own seat back',
    world: floating(1),
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', { machine: 'sleep' }),
      step('8h', { machine: 'wake' }),
      step('8h 2m', LOOK, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'A machine that wakes finds its seat taken, and gets it back when it is free',
    world: floating(1),
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', { machine: 'sleep' }),
      step('1h', { seller: 'take_seat', fingerprint: 'machine-second-01' }),
      step('1h', { machine: 'wake' }),
      step('1h 3m', LOOK, no('no_seat', 'network')),
      step('1h 20m', LOOK, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'With offline_days 0, the lease ends a verdict, also if a proxy takes it out of the answer',
    world: floating(1, 0),
    steps: [
      step('', { network: 'changes', fields: { activation: null } }),
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1s', DOWN),
      step('14m', LOOK, VALID),
      step('16m', LOOK, { valid: false }),
    ],
  },
  {
    name: 'A program that stops and starts renews its lease',
    world: floating(1),
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', STOP),
      step('10m', GO),
      step('20m', LOOK, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'A program without heartbeats loses its lease',
    application: { heartbeat: 'off' },
    world: floating(1),
    steps: [step('', GO), step('', ACTIVATE, VALID), step('14m', LOOK, { ...VALID, seats: 1 })],
  },
  {
    name: 'A refused heartbeat locks nobody out before the lease ends',
    world: floating(1),
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', { network: 'error', code: 'rate_limit_exceeded', retry_after: 60 }),
      step('12m', LOOK, VALID),
      step('12m', UP),
      step('18m', LOOK, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'A machine borrows its seat for a trip of three days',
    world: floating(1),
    steps: [
      step('', GO),
      step('', { call: 'activate', license_key: LICENSE_KEY, lease_seconds: 3 * 86_400 }, { ...VALID, seats: 1 }),
      step('1m', STOP),
      step('2m', DOWN),
      step('2d 23h', GO, { ...STORED, seats: 1 }),
      step('3d', LOOK, { ...no('offline_expired', 'stored'), seats: 0 }),
    ],
  },
];
