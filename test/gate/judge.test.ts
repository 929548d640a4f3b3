import { describe, expect, test } from 'vitest';
import type { CopiedLicense } from '../../src/gate/rules/rows.ts';
import { isLive, type Seat } from '../../src/gate/rules/seats.ts';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { type CallName, VERDICT_CODES, type VerdictCode } from '../../src/shared/rules/verdict.ts';
import {
  decide,
  ENDED,
  FLOATING,
  type Given,
  NODE_LOCKED,
  NOW,
  seatOf,
  UNLIMITED,
} from '../support/judge.ts';

const MINUTE_MS = 60_000;

describe('a verdict has the first code that fits', () => {
  /** What is wrong with a call. Each step mends what the step before was about. */
  const STEPS: [code: VerdictCode, call: CallName, mended: Given][] = [
    ['not_found', 'activate', { license: null }],
    ['revoked', 'activate', { license: { ...ENDED, status: 'revoked' } }],
    ['suspended', 'activate', { license: { ...ENDED, status: 'suspended' } }],
    ['expired', 'activate', { license: ENDED }],
    ['wrong_product', 'activate', { license: { ...ENDED, expiresAt: null } }],
    ['updates_ended', 'activate', { input: { release_date: '2026-11-02', fingerprint: undefined } }],
    ['fingerprint_required', 'heartbeat', { input: { fingerprint: undefined } }],
    ['verify_due', 'heartbeat', { input: {} }],
    ['not_activated', 'heartbeat', { seat: null }],
    ['no_seat', 'activate', {}],
    ['transfer_limit', 'activate', { used: 0 }],
    ['deactivated', 'deactivate', { used: 0 }],
    ['valid', 'activate', { recent: 0 }],
  ];
  const worst: Given = {
    terms: { ...FLOATING, maxTransfers: 0 },
    input: { product: 'other', release_date: '2026-11-02', fingerprint: undefined },
    seat: seatOf({ leaseUntilMs: NOW - DAY_MS, countedAtMs: NOW - 2 * DAY_MS }),
    used: 2,
    recent: 2,
  };

  test('in the order of VERDICT_CODES', () => {
    let given = worst;
    const codes = STEPS.map(([, call, mended]) => {
      given = { ...given, ...mended };
      return decide(call, given).code;
    });
    expect(codes).toEqual(STEPS.map(([code]) => code));
    expect(codes).toEqual([...VERDICT_CODES]);
  });

  test('and a machine may leave whatever the state of its license', () => {
    const license: CopiedLicense = { ...ENDED, status: 'revoked' };
    const input = { product: 'other', release_date: '2026-11-02' };
    expect(decide('deactivate', { license, input, seat: seatOf() })).toMatchObject({
      code: 'deactivated',
      kinds: ['release machine-1'],
    });
  });
});

describe('a license with limited seats', () => {
  test.for<CallName>(['verify', 'activate', 'heartbeat', 'deactivate'])(
    'requires a fingerprint for %s',
    (call) => {
      expect(decide(call, { input: { fingerprint: undefined } }).code).toBe('fingerprint_required');
    },
  );

  test.for([
    ['verify', 'not_activated'],
    ['heartbeat', 'not_activated'],
    ['activate', 'valid'],
    ['deactivate', 'deactivated'],
  ] as const)('answers %s of a new machine with %s', ([call, code]) => {
    expect(decide(call, { used: 1 }).code).toBe(code);
  });

  test('gives its last seat to one more machine, and none after that', () => {
    expect(decide('activate', { used: 1 })).toMatchObject({ code: 'valid', kinds: ['take machine-1'] });
    expect(decide('activate', { used: 2 })).toMatchObject({ code: 'no_seat', seat: null });
  });

  test('keeps every machine after the limit was lowered, and admits no new one', () => {
    expect(decide('verify', { used: 5, seat: seatOf() }).code).toBe('valid');
    expect(decide('activate', { used: 5 }).code).toBe('no_seat');
  });

  test('counts its seats only when one is taken', () => {
    const count = () => {
      throw new Error('counted');
    };
    for (const call of ['verify', 'activate', 'heartbeat'] as const)
      expect(decide(call, { seat: seatOf(), count }).code).toBe('valid');
  });

  test('writes nothing for a machine that was seen within the hour', () => {
    expect(decide('verify', { seat: seatOf() }).seat).toBeNull();
    const seenAnHourAgo = seatOf({ lastSeenAtMs: NOW - HOUR_MS });
    expect(decide('heartbeat', { seat: seenAnHourAgo }).seat).toMatchObject({ lastSeenAtMs: NOW });
  });

  test('frees a seat when its machine deactivates, and verify does not take it back', () => {
    const { seat, code } = decide('deactivate', { seat: seatOf() });
    expect(code).toBe('deactivated');
    expect(isLive(seat as Seat, NOW)).toBe(false);
    expect(decide('verify', { seat }).code).toBe('not_activated');
    expect(decide('deactivate', { seat })).toMatchObject({ code: 'deactivated', seat: null });
  });

  test('replaces another machine’s seat only for a machine that takes a seat with activate', () => {
    const other = seatOf();
    const replaced = { code: 'valid', kinds: ['release machine-2', 'take machine-1'] };
    expect(decide('activate', { used: 2, other })).toMatchObject(replaced);
    expect(decide('activate', { used: 1, other })).toMatchObject(replaced);
    expect(decide('activate', { used: 2, other, seat: seatOf() })).toMatchObject({
      code: 'valid',
      kinds: [],
    });
    expect(decide('activate', { used: 4, other })).toMatchObject({ code: 'no_seat', kinds: [] });
    const lapsed = seatOf({ leaseUntilMs: NOW - 1 });
    expect(decide('verify', { used: 2, other, seat: lapsed })).toMatchObject({ code: 'no_seat', kinds: [] });
    const held = seatOf({ fileUntilMs: NOW + 1 });
    expect(decide('activate', { used: 2, other: held })).toMatchObject({ code: 'no_seat', kinds: [] });
  });
});

describe('max_transfers', () => {
  const terms = { ...NODE_LOCKED, maxTransfers: 1 };

  test('limits how many machines may hold a seat within 30 days', () => {
    expect(decide('activate', { terms, used: 1, recent: 2 }).code).toBe('valid');
    expect(decide('activate', { terms, used: 1, recent: 3 }).code).toBe('transfer_limit');
  });

  test('does not count the return of a machine within 30 days', () => {
    const back = (daysAgo: number) => seatOf({ releasedAtMs: NOW - daysAgo * DAY_MS });
    expect(decide('activate', { terms, used: 1, recent: 3, seat: back(29) }).code).toBe('valid');
    expect(decide('activate', { terms, used: 1, recent: 3, seat: back(31) }).code).toBe('transfer_limit');
  });
});

describe('a floating license', () => {
  const ends = (leaseUntilMs: number) => seatOf({ leaseUntilMs });

  test('holds a seat until the lease ends, and not longer', () => {
    expect(isLive(ends(NOW + 1), NOW)).toBe(true);
    expect(isLive(ends(NOW), NOW)).toBe(false);
  });

  test('renews the lease at the last moment', () => {
    const { code, seat } = decide('heartbeat', { terms: FLOATING, seat: ends(NOW + 1) });
    expect([code, seat?.leaseUntilMs]).toEqual(['valid', NOW + HOUR_MS]);
  });

  test('writes a lease only if it moves by a tenth', () => {
    expect(decide('heartbeat', { terms: FLOATING, seat: ends(NOW + 55 * MINUTE_MS) }).seat).toBeNull();
    expect(decide('heartbeat', { terms: FLOATING, seat: ends(NOW + 54 * MINUTE_MS) }).seat).not.toBeNull();
  });

  test.for([
    ['verify', 1, 'valid'],
    ['activate', 1, 'valid'],
    ['heartbeat', 1, 'not_activated'],
    ['verify', 2, 'no_seat'],
    ['activate', 2, 'no_seat'],
    ['heartbeat', 2, 'no_seat'],
  ] as const)('after a lapse, answers %s with %d of 2 seats used with %s', ([call, used, code]) => {
    expect(decide(call, { terms: FLOATING, seat: ends(NOW - 1), used }).code).toBe(code);
  });

  test('asks for a verify a day after the machine’s last counted call', () => {
    const counted = (agoMs: number) => seatOf({ countedAtMs: NOW - agoMs });
    expect(decide('heartbeat', { seat: counted(DAY_MS) }).code).toBe('valid');
    expect(decide('heartbeat', { seat: counted(DAY_MS + 1) }).code).toBe('verify_due');
    expect(decide('verify', { seat: counted(DAY_MS + 1) }).code).toBe('valid');
  });

  test.for([
    ['a longer lease', 7 * 86_400, 7 * DAY_MS],
    ['a lease longer than its offline time', 30 * 86_400, 14 * DAY_MS],
    ['a shorter lease', 60, MINUTE_MS],
  ] as const)('lends %s', ([, lease_seconds, expected]) => {
    const { seat } = decide('activate', { terms: FLOATING, input: { lease_seconds } });
    expect(seat?.leaseUntilMs).toBe(NOW + expected);
  });

  test('a heartbeat does not shorten a borrowed lease', () => {
    expect(decide('heartbeat', { terms: FLOATING, seat: ends(NOW + DAY_MS) }).seat).toBeNull();
  });
});

test('an offline file holds its seat until it ends, even if the machine deactivates', () => {
  const { seat } = decide('deactivate', { seat: seatOf({ fileUntilMs: NOW + DAY_MS }) });
  expect(isLive(seat as Seat, NOW + DAY_MS - 1)).toBe(true);
  expect(isLive(seat as Seat, NOW + DAY_MS)).toBe(false);
  expect(decide('verify', { seat }).code).toBe('not_activated');
  expect(decide('activate', { seat, used: 2 })).toMatchObject({
    code: 'valid',
    kinds: ['renew machine-1'],
  });
});

describe('a license without a limit', () => {
  test('answers a heartbeat of which no counted call is on record with verify_due', () => {
    expect(decide('heartbeat', { terms: UNLIMITED, input: { fingerprint: undefined } }).code).toBe(
      'verify_due',
    );
    expect(decide('heartbeat', { terms: UNLIMITED }).code).toBe('verify_due');
    expect(decide('heartbeat', { terms: UNLIMITED, seat: seatOf() }).code).toBe('valid');
  });

  test.for<CallName>(['verify', 'activate'])('is valid for %s without a fingerprint', (call) => {
    expect(decide(call, { terms: UNLIMITED, input: { fingerprint: undefined } })).toMatchObject({
      code: 'valid',
      seat: null,
    });
  });

  test('records a machine when it activates, and not when it verifies', () => {
    expect(decide('verify', { terms: UNLIMITED })).toMatchObject({ code: 'valid', seat: null });
    expect(decide('activate', { terms: UNLIMITED })).toMatchObject({
      code: 'valid',
      kinds: ['take machine-1'],
    });
  });
});
