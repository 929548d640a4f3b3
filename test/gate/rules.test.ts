import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plainVerdict } from '../../src/gate/rules/judge.ts';
import { calendarMonth } from '../../src/gate/rules/usage.ts';
import { currentRate, decideRate, decideSharedRate } from '../../src/shared/rules/rate.ts';

const spendCalls = (calls: number, nowMs: number, callsPerSecond: number, from = 0) => {
  let recoveredAtMs = from;
  let allowed = 0;
  let last = decideRate(recoveredAtMs, nowMs, callsPerSecond);
  for (let i = 0; i < calls; i++) {
    last = decideRate(recoveredAtMs, nowMs, callsPerSecond);
    recoveredAtMs = last.recoveredAtMs;
    if (last.allowed) allowed++;
  }
  return { allowed, recoveredAtMs, last };
};

describe('the rate limit of an API key', () => {
  test.for([10, 100, 1_000])(
    'at %i calls per second allows a burst of two seconds’ worth of calls',
    (rate) => {
      const { allowed, last } = spendCalls(3 * rate, 1_000_000, rate);
      expect(allowed).toBe(2 * rate);
      expect(last).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
      expect(last.state).toEqual({ quota: 2 * rate, windowSeconds: 2, remaining: 0, resetSeconds: 2 });
    },
  );

  test('recovers one call at a time', () => {
    const { recoveredAtMs } = spendCalls(20, 1_000_000, 10);
    expect(spendCalls(5, 1_000_099, 10, recoveredAtMs).allowed).toBe(0);
    expect(spendCalls(5, 1_000_100, 10, recoveredAtMs).allowed).toBe(1);
    expect(spendCalls(50, 1_002_000, 10, recoveredAtMs).allowed).toBe(20);
  });

  test('allows exactly the calls it reports as remaining', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(400), { minLength: 1, maxLength: 60 }), (pauses) => {
        let nowMs = 1_000_000;
        let recoveredAtMs = 0;
        for (const pause of pauses) {
          nowMs += pause;
          const { remaining } = currentRate(recoveredAtMs, nowMs, 10);
          expect(spendCalls(40, nowMs, 10, recoveredAtMs).allowed).toBe(remaining);
          recoveredAtMs = decideRate(recoveredAtMs, nowMs, 10).recoveredAtMs;
        }
      }),
      { seed: 1 },
    );
  });

  test('never allows more than its rate plus one burst', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(300), { maxLength: 200 }), (pauses) => {
        let nowMs = 0;
        let recoveredAtMs = 0;
        let allowed = 0;
        for (const pause of pauses) {
          nowMs += pause;
          const decision = decideRate(recoveredAtMs, nowMs, 10);
          recoveredAtMs = decision.recoveredAtMs;
          if (decision.allowed) allowed++;
        }
        expect(allowed).toBeLessThanOrEqual(20 + nowMs / 100);
      }),
      { seed: 2 },
    );
  });

  test('does not lock a key out when the clock is set back by a month', () => {
    const { recoveredAtMs } = spendCalls(20, 3_000_000_000, 10);
    expect(currentRate(recoveredAtMs, 1_000_000, 10).remaining).toBe(20);
    expect(spendCalls(30, 1_000_000, 10, recoveredAtMs).allowed).toBe(20);
  });
});

describe('the rate limit of all API keys of an account together', () => {
  const plan = { callsPerSecond: 10, accountCallsPerSecond: 25 };
  const steps = fc.array(fc.record({ key: fc.nat(4), pause: fc.oneof(fc.constant(0), fc.nat(200)) }), {
    maxLength: 300,
  });

  test('never allows more than a burst plus the rate, for each key and for the account', () => {
    fc.assert(
      fc.property(steps, (calls) => {
        const keys = [0, 0, 0, 0, 0];
        const allowedByKey = [0, 0, 0, 0, 0];
        let account = 0;
        let nowMs = 0;
        for (const { key, pause } of calls) {
          nowMs += pause;
          const shared = decideSharedRate(keys[key] ?? 0, account, nowMs, plan);
          keys[key] = shared.keyRecoveredAtMs;
          account = shared.accountRecoveredAtMs;
          if (shared.decision.allowed) allowedByKey[key] = (allowedByKey[key] ?? 0) + 1;
        }
        for (const allowed of allowedByKey) expect(allowed).toBeLessThanOrEqual(20 + nowMs / 100);
        const allAllowed = allowedByKey.reduce((sum, allowed) => sum + allowed, 0);
        expect(allAllowed).toBeLessThanOrEqual(50 + nowMs / 40);
      }),
      { seed: 5 },
    );
  });

  test('allows a call exactly if both rates allow it, and a refused call spends neither', () => {
    fc.assert(
      fc.property(steps, (calls) => {
        const keys = [0, 0, 0, 0, 0];
        let account = 0;
        let nowMs = 1_000_000;
        for (const { key, pause } of calls) {
          nowMs += pause;
          const before = { key: keys[key] ?? 0, account };
          const byKey = decideRate(before.key, nowMs, plan.callsPerSecond);
          const byAccount = decideRate(before.account, nowMs, plan.accountCallsPerSecond);
          const shared = decideSharedRate(before.key, before.account, nowMs, plan);
          const allowed = byKey.allowed && byAccount.allowed;
          expect(shared.decision.allowed).toBe(allowed);
          expect([shared.keyRecoveredAtMs, shared.accountRecoveredAtMs]).toEqual(
            allowed ? [byKey.recoveredAtMs, byAccount.recoveredAtMs] : [before.key, before.account],
          );
          keys[key] = shared.keyRecoveredAtMs;
          account = shared.accountRecoveredAtMs;
        }
      }),
      { seed: 6 },
    );
  });
});

test('a calendar month starts at its first millisecond and ends before the next month’s', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (nowMs) => {
      const month = calendarMonth(nowMs);
      expect(month.startMs <= nowMs && nowMs < month.endMs).toBe(true);
      expect(new Date(month.startMs).toISOString()).toMatch(/-01T00:00:00.000Z$/);
      expect(calendarMonth(month.endMs).startMs).toBe(month.endMs);
      expect(calendarMonth(month.endMs - 1)).toEqual(month);
    }),
    { seed: 3 },
  );
});

describe('a plain verdict', () => {
  const today = '2026-11-21';
  const license = {
    id: 'lic_1',
    licenseKey: 'L-1',
    customerEmail: 'ada@example.com',
    product: null,
    terms: {},
    updatesUntil: null,
  };

  test.for([
    { stored: 'active', expiresAt: null, valid: true, status: 'active' },
    { stored: 'active', expiresAt: '2026-11-21', valid: true, status: 'active' },
    { stored: 'active', expiresAt: '2026-11-20', valid: false, status: 'expired' },
    { stored: 'suspended', expiresAt: '2026-11-20', valid: false, status: 'suspended' },
    { stored: 'revoked', expiresAt: null, valid: false, status: 'revoked' },
  ] as const)(
    'on 2026-11-21 is $status for $stored until $expiresAt',
    ({ stored, expiresAt, valid, status }) => {
      const verdict = plainVerdict({ ...license, status: stored, expiresAt }, today);
      expect(verdict).toEqual({ valid, status, expires_at: expiresAt });
    },
  );

  test('without a license is not_found', () => {
    expect(plainVerdict(null, today)).toEqual({ valid: false, status: 'not_found', expires_at: null });
  });
});
