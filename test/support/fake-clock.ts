import { onTestFinished, vi } from 'vitest';

type Time = string | number;

type Timer = 'setTimeout' | 'clearTimeout';

const stopClock = (now: Time, timers: Timer[] = []) =>
  vi.useFakeTimers({ toFake: ['Date', ...timers], now: new Date(now) });

/**
 * At noon in the middle of a month, because calls are counted per day and per month: a test that passes hours or days must not
 * depend on when it runs.
 */
const MID_MONTH = '2027-03-10T12:00:00.000Z';

/**
 * Stops the clock until the test ends, at a set time unless `now` says another; timers keep running, except those that are
 * named. Move it with `vi.setSystemTime` and `vi.advanceTimersByTime`. Works in a test and in `beforeEach`.
 */
export const useFakeClock = (now: Time = MID_MONTH, timers: Timer[] = []) => {
  onTestFinished(() => {
    vi.useRealTimers();
  });
  stopClock(now, timers);
};

/** Runs `setUp` with the clock stopped at `now`, for `beforeAll`. */
export const atTime = async <T>(now: Time, setUp: () => Promise<T>): Promise<T> => {
  stopClock(now);
  try {
    return await setUp();
  } finally {
    vi.useRealTimers();
  }
};
