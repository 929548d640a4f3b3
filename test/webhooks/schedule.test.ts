import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isGivenUp, nextAttemptMs, readRetryAfter } from '../../src/webhooks/schedule.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PAUSES_MS = [5 * SECOND_MS, 300 * SECOND_MS, ...[0.5, 2, 5, 10, 14, 20, 24].map((h) => h * HOUR_MS)];

const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const attempts = fc.integer({ min: 1, max: PAUSES_MS.length });

test('a failed delivery is tried again after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, and no more', () => {
  const pauses = PAUSES_MS.map((_, i) => (nextAttemptMs(i + 1, NOON, null, 0.5) ?? 0) - NOON);
  expect(pauses).toEqual(PAUSES_MS);
  expect(nextAttemptMs(10, NOON, null, 0.5)).toBeNull();
  expect(nextAttemptMs(10, NOON, DAY_MS, 0.5)).toBeNull();
});

test('each pause is up to a fifth shorter or longer, so that not all come back at once', () => {
  for (const [i, pauseMs] of PAUSES_MS.entries()) {
    expect(nextAttemptMs(i + 1, NOON, null, 0)).toBe(NOON + pauseMs * 0.8);
    expect(nextAttemptMs(i + 1, NOON, null, 1)).toBe(NOON + pauseMs * 1.2);
  }
  fc.assert(
    fc.property(attempts, dice, (failed, thrown) => {
      const pauseMs = (nextAttemptMs(failed, NOON, null, thrown) ?? 0) - NOON;
      const meantMs = PAUSES_MS[failed - 1] ?? 0;
      return Number.isInteger(pauseMs) && pauseMs >= meantMs * 0.8 && pauseMs <= meantMs * 1.2;
    }),
  );
});

test('a Retry-After can put an attempt off by up to a day, and never brings it forward', () => {
  expect(nextAttemptMs(1, NOON, 120 * SECOND_MS, 0.5)).toBe(NOON + 120 * SECOND_MS);
  expect(nextAttemptMs(1, NOON, 365 * DAY_MS, 0.5)).toBe(NOON + DAY_MS);
  expect(nextAttemptMs(9, NOON, 1, 0.5)).toBe(NOON + DAY_MS);
  fc.assert(
    fc.property(attempts, dice, fc.nat({ max: 2 * DAY_MS }), (failed, thrown, askedMs) => {
      const without = nextAttemptMs(failed, NOON, null, thrown) ?? 0;
      const asked = nextAttemptMs(failed, NOON, askedMs, thrown) ?? 0;
      return asked === Math.max(without, NOON + Math.min(askedMs, DAY_MS));
    }),
  );
});

test('a Retry-After is seconds or a date, and anything else is none', () => {
  const read = (header: string | null) => readRetryAfter(header, NOON);
  expect(read(null)).toBeNull();
  expect(['0', '120', ' 7 '].map(read)).toEqual([0, 120 * SECOND_MS, 7 * SECOND_MS]);
  expect(read('Wed, 10 Mar 2027 13:00:00 GMT')).toBe(HOUR_MS);
  expect(read('Wed, 10 Mar 2027 11:00:00 GMT')).toBe(0);
  for (const nonsense of ['', 'soon', '1e999x', 'NaN', '5 s'])
    expect([nonsense, read(nonsense)]).toEqual([nonsense, null]);
  fc.assert(
    fc.property(fc.string(), (header) => {
      const ms = read(header);
      return ms === null || (Number.isFinite(ms) && ms >= 0);
    }),
  );
});

test('an endpoint is given up after five days of nothing but failures', () => {
  expect(isGivenUp(null, NOON)).toBe(false);
  expect(isGivenUp(NOON - 5 * DAY_MS + 1, NOON)).toBe(false);
  expect(isGivenUp(NOON - 5 * DAY_MS, NOON)).toBe(true);
});
