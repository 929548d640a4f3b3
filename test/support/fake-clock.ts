import { onTestFinished, vi } from 'vitest';

type Time = string | number;

const stopClock = (now: Time) => vi.useFakeTimers({ toFake: ['Date'], now: new Date(now) });

/**
 * Stops the clock at `now` until the test ends; timers keep running. Move it with `vi.setSystemTime` and
 * `vi.advanceTimersByTime`. Works in a test and in `beforeEach`.
 */
export const useFakeClock = (now: Time = Date.now()) => {
  onTestFinished(() => {
    vi.useRealTimers();
  });
  stopClock(now);
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
