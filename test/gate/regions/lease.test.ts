import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  endsBeforeAlarm,
  isRenewalDue,
  leasedUntil,
  leasedUntilAtStart,
  mayAnswer,
  renew,
  renewAfterMs,
  storedLeaseMs,
} from '../../../src/gate/rules/lease.ts';

describe('a lease', () => {
  const answer = { sentMs: 1_000, leaseMs: 30_000, through: 5 };

  test('ends two seconds before its length, counted from the renewal', () => {
    const lease = renew(null, answer, 5);
    expect(mayAnswer(lease, 28_999)).toBe(true);
    expect(mayAnswer(lease, 29_000)).toBe(false);
    expect(mayAnswer(null, 1_000)).toBe(false);
  });

  test('does not hold before the branch has applied the changes that came with it', () => {
    expect(renew(null, answer, 4)).toBe(null);
  });

  test('is not shortened by a late answer to an earlier renewal', () => {
    const later = renew(null, { ...answer, sentMs: 9_000 }, 5);
    expect(renew(later, answer, 5)).toBe(later);
  });

  test('ends if the clock is set back to before the renewal', () => {
    expect(mayAnswer(renew(null, answer, 5), 999)).toBe(false);
  });

  test('is renewed after 20 seconds, and at once if there is none', () => {
    const lease = renew(null, answer, 5);
    expect(isRenewalDue(lease, 20_999)).toBe(false);
    expect(isRenewalDue(lease, 21_000)).toBe(true);
    expect(isRenewalDue(null, 0)).toBe(true);
  });

  test('counts at home from the answer, and in full after a restart', () => {
    expect(leasedUntil(0, 1_500, 30_000)).toBe(31_500);
    expect(leasedUntil(40_000, 1_500, 30_000)).toBe(40_000);
    expect(leasedUntilAtStart(7_000, 60_000)).toBe(67_000);
  });

  test('that a new setting has shortened counts at home until the longer one has ended, also after a restart', () => {
    const untilMs = leasedUntil(leasedUntil(0, 1_000, 300_000), 11_000, 5_000);
    expect(untilMs).toBe(301_000);
    expect(leasedUntilAtStart(12_000, storedLeaseMs(untilMs, 11_000))).toBe(302_000);
    const long = renew(null, { ...answer, leaseMs: 300_000 }, 5);
    expect(renew(long, { ...answer, sentMs: 11_000, leaseMs: 5_000 }, 5)).toBe(long);
  });

  const LENGTHS = [5_000, 30_000, 300_000];

  test.for(LENGTHS)('of %i ms is renewed while there is time for another attempt', (leaseMs) => {
    const lease = renew(null, { sentMs: 0, leaseMs, through: 0 }, 0);
    const dueMs = renewAfterMs(leaseMs);
    expect(isRenewalDue(lease, dueMs - 1)).toBe(false);
    expect(isRenewalDue(lease, dueMs)).toBe(true);
    expect(endsBeforeAlarm(lease, dueMs - 500)).toBe(true);
    expect(mayAnswer(lease, dueMs + 900)).toBe(true);
  });

  test.for(LENGTHS)(
    'of %i ms ends in the branch before home takes it for ended, with clocks that drift by 1% and are set by a second',
    (leaseMs) => {
      const drift = fc.double({ min: -0.01, max: 0.01, noNaN: true });
      fc.assert(
        fc.property(
          fc.record({
            branch: drift,
            delayMs: fc.nat(5_000),
            stepMs: fc.integer({ min: -1_000, max: 1_000 }),
          }),
          drift,
          ({ branch, delayMs, stepMs }, home) => {
            const lease = renew(null, { sentMs: 0, leaseMs, through: 0 }, 0);
            const homeEndsMs = leasedUntil(0, delayMs * (1 + home), leaseMs) / (1 + home);
            const branchEndsMs = ((lease?.untilMs ?? 0) + stepMs) / (1 + branch);
            expect(branchEndsMs).toBeLessThan(homeEndsMs);
          },
        ),
      );
    },
  );
});
