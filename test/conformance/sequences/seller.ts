import { FINGERPRINT, LICENSE_KEY, TERMS } from '../world.ts';
import { ACTIVATE, activated, DOWN, GO, LOOK, no, REFRESH, type Sequence, step, STOP, STORED, UP, VALID } from './words.ts';

const OTHER_KEY = '16BGN-TZ49E-KRX27-CHPV0-5AFMN';
const OWN_KEY = 'Acme.Team_0001';
const [SECOND, THIRD, FOURTH] = ['machine-second-01', 'machine-third-001', 'machine-fourth-01'] as const;
const taken = [SECOND, THIRD, FOURTH].map((fingerprint) => step('', { seller: 'take_seat', fingerprint }));

export const sellerSequences: Sequence[] = [
  {
    name: 'A running program learns of a suspension and of its end within 30 hours',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', { seller: 'suspend' }),
      step('1d 6h', LOOK, no('suspended', 'network')),
      step('1d 7h', { seller: 'reinstate' }),
      step('2d 13h', LOOK, VALID),
    ],
  },
  {
    name: 'A signed no is a verdict: no outage and no restart undoes it',
    steps: [
      ...activated(),
      step('2d', { seller: 'revoke' }),
      step('2d', GO),
      step('2d 1m', LOOK, no('revoked', 'network')),
      step('2d 2m', DOWN),
      step('2d 2m', REFRESH, no('revoked', 'network')),
      step('2d 3m', STOP),
      step('2d 4m', GO, { valid: false }),
      step('2d 6m', LOOK, { valid: false }),
    ],
  },
  {
    name: 'Without a network, nobody learns of a revocation before the token ends',
    steps: [
      ...activated(),
      step('1h', DOWN),
      step('2h', { seller: 'revoke' }),
      step('13d', GO, STORED),
      step('14d 1m', LOOK, no('offline_expired', 'stored')),
      step('14d 2m', UP),
      step('14d 7m', LOOK, no('revoked', 'network')),
    ],
  },
  {
    name: 'A customer who types an unknown key, and then the right one',
    steps: [
      step('', GO, no('key_missing')),
      step('', { call: 'activate', license_key: OTHER_KEY }, { ...no('not_found', 'network'), counted: 0 }),
      step('1m', ACTIVATE, { ...VALID, counted: 1 }),
    ],
  },
  {
    name: 'A customer types the key in another spelling',
    steps: [
      step('', GO),
      step('', { call: 'activate', license_key: ' 7k3qd 9wzxa m2rtb h5nve 4ogpw ' }, { ...VALID, seats: 1 }),
      step('1d', STOP),
      step('2d', DOWN),
      step('2d', GO, STORED),
    ],
  },
  {
    name: 'A key that isn’t good doesn’t replace one that is',
    world: { licenses: [{ license_key: LICENSE_KEY }, { license_key: OTHER_KEY, status: 'revoked' }] },
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', { call: 'activate', license_key: OTHER_KEY }, no('revoked', 'network')),
      step('2m', LOOK, VALID),
      step('3m', STOP),
      step('4m', GO, STORED),
    ],
  },
  {
    name: 'A customer who buys another license switches to its key',
    world: {
      licenses: [
        { license_key: LICENSE_KEY, expires_at: '2026-11-23' },
        { license_key: OWN_KEY, expires_at: null },
      ],
    },
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('2d', LOOK, no('expired', 'network')),
      step('2d', { call: 'activate', license_key: OWN_KEY }, VALID),
      step('2d 1m', STOP),
      step('2d 2m', DOWN),
      step('2d 2m', GO, STORED),
    ],
  },
  {
    name: 'A customer who switches keys gives the old seat back',
    world: { licenses: [{ license_key: LICENSE_KEY }, { license_key: OWN_KEY }] },
    steps: [
      step('', GO),
      step('', ACTIVATE, { ...VALID, seats: 1 }),
      step('1m', { call: 'activate', license_key: OWN_KEY }, VALID),
      step('3m', LOOK, { ...VALID, seats: 0 }),
    ],
  },
  {
    name: 'A license of another product is not valid',
    world: { licenses: [{ license_key: LICENSE_KEY, product: 'other' }] },
    steps: [step('', GO), step('', ACTIVATE, no('wrong_product', 'network'))],
  },
  {
    name: 'A release that is later than the license’s updates',
    application: { release_date: '2026-11-20' },
    world: { licenses: [{ license_key: LICENSE_KEY, updates_until: '2026-11-19' }] },
    steps: [step('', GO), step('', ACTIVATE, no('updates_ended', 'network'))],
  },
  {
    name: 'All seats are taken until another machine leaves',
    steps: [
      ...taken,
      step('', GO),
      step('', ACTIVATE, { ...no('no_seat', 'network'), seats: 3 }),
      step('1h', { seller: 'free_seat', fingerprint: SECOND }),
      step('1h', ACTIVATE, { ...VALID, seats: 3 }),
    ],
  },
  {
    name: 'A customer replaces another machine',
    world: { products: { orrery: { ...TERMS, max_activations: 1, self_service: true } } },
    steps: [
      step('', { seller: 'take_seat', fingerprint: SECOND }),
      step('', GO),
      step('', ACTIVATE, no('no_seat', 'network')),
      step('1m', { call: 'activate', replace: true }, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'A license that has moved too often',
    world: { products: { orrery: { ...TERMS, max_activations: 1, max_transfers: 0 } } },
    steps: [
      step('', { seller: 'take_seat', fingerprint: SECOND }),
      step('1h', { seller: 'free_seat', fingerprint: SECOND }),
      step('1h', GO),
      step('1h', ACTIVATE, { ...no('transfer_limit', 'network'), seats: 0 }),
      step('1h 1m', STOP),
      step('31d', GO),
      step('31d', ACTIVATE, { ...VALID, seats: 1 }),
    ],
  },
  {
    name: 'The seller frees a machine’s seat',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', { seller: 'free_seat', fingerprint: FINGERPRINT }),
      step('1h', REFRESH, no('not_activated', 'network')),
      step('1h 1m', ACTIVATE, VALID),
    ],
  },
  {
    name: 'A license is deleted',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', { seller: 'delete' }),
      step('1h', REFRESH, no('not_found', 'network')),
    ],
  },
  {
    name: 'A license gets another key',
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1h', { seller: 'rotate_key', new_license_key: OWN_KEY }),
      step('1h', REFRESH, no('not_found', 'network')),
      step('1h 1m', { call: 'activate', license_key: OWN_KEY }, { ...VALID }),
    ],
  },
  {
    name: 'The service rotates its signing keys twice',
    steps: [
      ...activated(),
      step('1d', { seller: 'rotate_signing_keys' }),
      step('2d', { seller: 'rotate_signing_keys' }),
      step('3d', GO, STORED),
      step('3d 1m', REFRESH, VALID),
      step('3d 2m', STOP),
      step('4d', DOWN),
      step('16d', GO, STORED),
    ],
  },
  {
    name: 'Without a limit of seats, each machine is good',
    world: { products: { orrery: { entitlements: { export: true } } } },
    steps: [step('', GO), step('', ACTIVATE, VALID), step('3d', LOOK, VALID)],
  },
  {
    name: 'With offline_days 0, a verdict outlasts no outage of more than a day and no restart',
    world: { products: { orrery: { ...TERMS, offline_days: 0 } } },
    steps: [
      step('', GO),
      step('', ACTIVATE, VALID),
      step('1m', DOWN),
      step('20h', LOOK, VALID),
      step('1d 7h', LOOK, { valid: false }),
      step('1d 7h', STOP),
      step('1d 8h', GO, { valid: false }),
    ],
  },
];
