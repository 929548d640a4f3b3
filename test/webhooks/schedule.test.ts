import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import { hasFailedTooLong, holdUntilMs, nextAttemptMs, readRetryAfter } from '../../src/webhooks/schedule.ts';

const NOON = Date.parse('2027-03-10T12:00:00.000Z');
const SECOND_MS = 1_000;
const PAUSES_MS = [5 * SECOND_MS, 300 * SECOND_MS, ...[0.5, 2, 5, 10, 14, 20, 24].map((h) => h * HOUR_MS)];

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const attempts = fc.integer({ min: 1, max: PAUSES_MS.length });

test('a failed delivery is retried after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, then never again', () => {
  const pauses = PAUSES_MS.map((_, i) => (nextAttemptMs(i + 1, NOON, 0.5) ?? 0) - NOON);
  expect(pauses).toEqual(PAUSES_MS);
  expect(nextAttemptMs(10, NOON, 0.5)).toBeNull();
});

test.for(PAUSES_MS.map((pauseMs, i) => ({ attempt: i + 1, pauseMs })))(
  'jitter moves the pause after attempt $attempt by up to 20 %',
  ({ attempt, pauseMs }) => {
    expect(nextAttemptMs(attempt, NOON, 0)).toBe(NOON + pauseMs * 0.8);
    expect(nextAttemptMs(attempt, NOON, 1)).toBe(NOON + pauseMs * 1.2);
  },
);

test('every pause is a whole number of milliseconds within 20 % of the schedule', () => {
  fc.assert(
    fc.property(attempts, random, (failed, randomValue) => {
      const pauseMs = (nextAttemptMs(failed, NOON, randomValue) ?? 0) - NOON;
      const scheduledMs = PAUSES_MS[failed - 1] ?? 0;
      expect(Number.isInteger(pauseMs)).toBe(true);
      expect(pauseMs).toBeGreaterThanOrEqual(scheduledMs * 0.8);
      expect(pauseMs).toBeLessThanOrEqual(scheduledMs * 1.2);
    }),
  );
});

test('a Retry-After holds an endpoint back for up to one day, and never for less than an earlier one', () => {
  expect(holdUntilMs(null, NOON, null)).toBeNull();
  expect(holdUntilMs(null, NOON, 120 * SECOND_MS)).toBe(NOON + 120 * SECOND_MS);
  expect(holdUntilMs(null, NOON, 365 * DAY_MS)).toBe(NOON + DAY_MS);
  expect(holdUntilMs(NOON + HOUR_MS, NOON, null)).toBe(NOON + HOUR_MS);
  expect(holdUntilMs(NOON + HOUR_MS, NOON, SECOND_MS)).toBe(NOON + HOUR_MS);
  expect(holdUntilMs(NOON - HOUR_MS, NOON, SECOND_MS)).toBe(NOON + SECOND_MS);
});

test.for([
  { header: null, ms: null },
  { header: '0', ms: 0 },
  { header: '120', ms: 120 * SECOND_MS },
  { header: ' 7 ', ms: 7 * SECOND_MS },
  { header: 'Wed, 10 Mar 2027 13:00:00 GMT', ms: HOUR_MS },
  { header: 'Wed, 10 Mar 2027 11:00:00 GMT', ms: 0 },
  { header: '', ms: null },
  { header: 'soon', ms: null },
  { header: '1e999x', ms: null },
  { header: 'NaN', ms: null },
  { header: '5 s', ms: null },
])('the Retry-After header $header is read as $ms ms', ({ header, ms }) => {
  expect(readRetryAfter(header, NOON)).toBe(ms);
});

test('any Retry-After header is read as null or a finite delay', () => {
  fc.assert(
    fc.property(fc.string(), (header) => {
      const ms = readRetryAfter(header, NOON);
      expect(ms === null || (Number.isFinite(ms) && ms >= 0)).toBe(true);
    }),
  );
});

test.for([
  { state: 'stays enabled', when: 'while it has no failure', failingSinceMs: null },
  {
    state: 'stays enabled',
    when: 'just before five days of failures',
    failingSinceMs: NOON - 5 * DAY_MS + 1,
  },
  { state: 'is disabled', when: 'after five days of failures', failingSinceMs: NOON - 5 * DAY_MS },
])('an endpoint $state $when', ({ state, failingSinceMs }) => {
  expect(hasFailedTooLong(failingSinceMs, NOON)).toBe(state === 'is disabled');
});
