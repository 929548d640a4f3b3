import { LICENSE_KEY, TERMS } from '../world.ts';
import { ACTIVATE, DOWN, GO, LOOK, no, REFRESH, type Sequence, step, STOP, STORED, UP, VALID } from './words.ts';

export const renewalSequences: Sequence[] = [
  {
    name: 'A license that has expired, and is renewed',
    world: { licenses: [{ license_key: LICENSE_KEY, expires_at: '2026-11-24' }] },
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('2d 12h 5m', LOOK, no('expired', 'network')),
      step('2d 13h', { seller: 'renew', expires_at: '2027-11-24' }),
      step('2d 13h 1m', REFRESH, VALID),
    ],
  },
  {
    name: 'A subscription that is renewed on its last day shows no gap at midnight',
    world: { licenses: [{ license_key: LICENSE_KEY, expires_at: '2026-11-22' }] },
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', LOOK),
      step('2h', { seller: 'renew', expires_at: '2026-12-22' }),
      step('12h', LOOK, { ...VALID, unbroken: true }),
      step('13h', LOOK, { ...VALID, unbroken: true }),
    ],
  },
  {
    name: 'A token of one day is renewed before it ends',
    world: { products: { orrery: { ...TERMS, offline_days: 1 } } },
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('6d', LOOK, { ...VALID, unbroken: true, counted: [6, 13] }),
      step('6d', REFRESH, { ...VALID, counted: [7, 14] }),
      step('6d', STOP),
      step('6d 13h', GO, { ...STORED, counted: [7, 14] }),
      step('7d 12h', LOOK, { ...VALID, unbroken: true }),
    ],
  },
  {
    name: 'A renewal that is late locks nobody out within the days of grace',
    world: {
      licenses: [{ license_key: LICENSE_KEY, expires_at: '2026-11-23' }],
      products: { orrery: { ...TERMS, grace_days: 5 } },
    },
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', STOP),
      step('2m', DOWN),
      step('6d 11h 59m', GO, STORED),
      step('6d 12h', LOOK, no('offline_expired', 'stored')),
      step('6d 12h 1m', UP),
      step('6d 12h 6m', LOOK, no('expired', 'network')),
      step('6d 13h', { seller: 'renew', expires_at: '2027-11-23' }),
      step('6d 13h', REFRESH, VALID),
    ],
  },
];
