import { describe, expect, test } from 'vitest';
import {
  decideSeat,
  isLive,
  type Seat,
  type SeatCall,
  type SeatRequest,
  type SeatTerms,
} from '../../src/gate/rules/seats.ts';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';

const NOW = Date.UTC(2026, 10, 22);
const MINUTE_MS = 60_000;

const NODE_LOCKED: SeatTerms = { maxActivations: 2, leaseSeconds: null, offlineDays: 14, maxTransfers: null };
const FLOATING: SeatTerms = { ...NODE_LOCKED, leaseSeconds: 3_600 };
const UNLIMITED: SeatTerms = { ...NODE_LOCKED, maxActivations: null };

const seatOf = (fields: Partial<Seat> = {}): Seat => ({
  activatedAtMs: NOW - HOUR_MS,
  lastSeenAtMs: NOW - MINUTE_MS,
  countedAtMs: NOW - MINUTE_MS,
  leaseUntilMs: null,
  fileUntilMs: null,
  releasedAtMs: null,
  ...fields,
});

const decide = (call: SeatCall, fields: Partial<SeatRequest> & { used?: number; recent?: number } = {}) => {
  const { used = 0, recent = used, ...request } = fields;
  return decideSeat(
    {
      call,
      terms: NODE_LOCKED,
      hasFingerprint: true,
      seat: null,
      count: () => ({ used, recent }),
      replaces: false,
      ...request,
    },
    NOW,
  );
};

describe('a license with limited seats', () => {
  test.for<SeatCall>(['verify', 'activate', 'heartbeat', 'deactivate'])(
    'requires a fingerprint for %s',
    (call) => {
      expect(decide(call, { hasFingerprint: false }).code).toBe('fingerprint_required');
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
    expect(decide('activate', { used: 1 })).toMatchObject({ code: 'valid', takes: true });
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
    const replaces = true;
    expect(decide('activate', { used: 2, replaces })).toMatchObject({ code: 'valid', replaces: true });
    expect(decide('activate', { used: 1, replaces })).toMatchObject({ code: 'valid', replaces: true });
    expect(decide('activate', { used: 2, replaces, seat: seatOf() })).toMatchObject({ replaces: false });
    expect(decide('activate', { used: 4, replaces })).toMatchObject({ code: 'no_seat', replaces: false });
    const lapsed = seatOf({ leaseUntilMs: NOW - 1 });
    expect(decide('verify', { used: 2, replaces, seat: lapsed })).toMatchObject({ code: 'no_seat' });
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
  ] as const)('lends %s', ([, leaseSeconds, expected]) => {
    const { seat } = decide('activate', { terms: FLOATING, leaseSeconds });
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
  expect(decide('activate', { seat, used: 2 })).toMatchObject({ code: 'valid', takes: false });
});

describe('a license without a limit', () => {
  test.for<SeatCall>(['verify', 'activate', 'heartbeat'])('is valid for %s without a fingerprint', (call) => {
    expect(decide(call, { terms: UNLIMITED, hasFingerprint: false })).toMatchObject({
      code: 'valid',
      seat: null,
    });
  });

  test('records a machine when it activates, and not when it verifies', () => {
    expect(decide('verify', { terms: UNLIMITED })).toMatchObject({ code: 'valid', seat: null });
    expect(decide('activate', { terms: UNLIMITED })).toMatchObject({ code: 'valid', takes: true });
  });
});
