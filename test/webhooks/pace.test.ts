import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FIRST_PACE, nextPace, type Pace } from '../../src/webhooks/pace.ts';

const paceAfter = (answersMs: number[]): Pace => answersMs.reduce(nextPace, FIRST_PACE);

test('a lane does not pause while the outbox answers as fast as it can, however far away it is', () => {
  expect(paceAfter([3, 3, 3]).pauseMs).toBe(0);
  expect(paceAfter([120, 120, 120]).pauseMs).toBe(0);
});

test('a lane pauses after an answer that took several times as long as the fastest', () => {
  expect(paceAfter([3, 6]).pauseMs).toBe(30);
  expect(paceAfter([20, 3, 9]).pauseMs).toBe(120);
});

test('an uneven network hardly slows a lane down', () => {
  expect(paceAfter([30, 36]).pauseMs).toBeCloseTo(12);
});

test('a lane sends without a pause again once the outbox answers in time', () => {
  expect(paceAfter([3, 40]).pauseMs).toBe(150);
  expect(paceAfter([3, 40, 3]).pauseMs).toBe(0);
});

test('a later answer means a longer pause, up to 150 ms', () => {
  const ms = fc.nat({ max: 60_000 });
  fc.assert(
    fc.property(ms, ms, ms, (fastestMs, earlierMs, laterMs) => {
      const pauses = [earlierMs, laterMs]
        .toSorted((a, b) => a - b)
        .map((addedMs) => paceAfter([fastestMs, fastestMs + addedMs]).pauseMs);
      expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
      for (const pauseMs of pauses) expect(pauseMs >= 0 && pauseMs <= 150).toBe(true);
    }),
  );
});
