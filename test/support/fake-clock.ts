import { onTestFinished, vi } from 'vitest';

/**
 * Stops the clock at `now` until the test ends; timers keep running. Move it with `vi.setSystemTime` and
 * `vi.advanceTimersByTime`. Works in a test and in `beforeEach`.
 */
export const useFakeClock = (now: string | number = Date.now()) => {
  onTestFinished(() => {
    vi.useRealTimers();
  });
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(now) });
};
