import { onTestFinished, vi } from 'vitest';

type Time = string | number;

type Timer = 'setTimeout' | 'clearTimeout';

const stopClock = (now: Time, timers: Timer[] = []) =>
  vi.useFakeTimers({ toFake: ['Date', ...timers], now: new Date(now) });

/**
 * Stops the clock at `now` until the test ends; timers keep running, except those that are named. Move it with
 * `vi.setSystemTime` and `vi.advanceTimersByTime`. Works in a test and in `beforeEach`.
 */
export const useFakeClock = (now: Time = Date.now(), timers: Timer[] = []) => {
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
