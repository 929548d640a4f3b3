import type { Timer } from '../../../src/client/core/options.ts';
import { isWorking, watchCrypto } from './work.ts';

export interface FakeTimer extends Timer {
  run: () => void;
  dueMs: number;
  ms: number;
  /** Timers of the schedule are unref'd, timers of a call are not. */
  isUnref: boolean;
}

const nextTurn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

/** Resolves once the condition holds. */
export const until = async (condition: () => boolean, message = 'The condition never held.') => {
  const endMs = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > endMs) throw new Error(message);
    await nextTurn();
  }
};

/** Lets what doesn't wait for a timer end. On a busy machine, cryptography takes any number of turns. */
export const turns = async (count = 10) => {
  for (let turn = 0; turn < count; turn = isWorking() ? 0 : turn + 1) await nextTurn();
};

/** A clock and timers that move only when a test says so. */
export const createTime = (startMs: number) => {
  watchCrypto();
  const timers = new Set<FakeTimer>();
  /** How long each timer of a call was set for, in order. */
  const waits: number[] = [];
  const time = {
    nowMs: startMs,
    /** What `random` returns. */
    random: 0.5,
    /** Requests that have to end before a timer may fire. */
    busy: 0,
    isBusy: (): boolean => time.busy > 0 || isWorking(),
    waits,
    now: (): number => time.nowMs,
    runtime: {
      setTimer: (run: () => void, ms: number): Timer => {
        const timer: FakeTimer = {
          run,
          ms,
          dueMs: time.nowMs + ms,
          isUnref: false,
          unref: () => {
            timer.isUnref = true;
          },
        };
        timers.add(timer);
        return timer;
      },
      clearTimer: (timer: Timer): void => void timers.delete(timer as FakeTimer),
      random: (): number => time.random,
    },

    scheduled: (): FakeTimer[] => [...timers].filter(({ isUnref }) => isUnref),
    pending: (): FakeTimer[] => [...timers].filter(({ isUnref }) => !isUnref),

    /** Fires the timers of calls, earliest first, until the promise settles. */
    drive: async <T>(promise: Promise<T>): Promise<T> => {
      const settled = new AbortController();
      const { signal } = settled;
      const settle = () => settled.abort();
      promise.then(settle, settle);
      while (!signal.aborted) {
        await turns(5);
        const [first] = time.pending().toSorted((a, b) => a.dueMs - b.dueMs);
        if (signal.aborted || !first || time.isBusy()) continue;
        timers.delete(first);
        waits.push(first.ms);
        time.nowMs = Math.max(time.nowMs, first.dueMs);
        first.run();
      }
      return promise;
    },

    /** Lets time pass, with the timers of the schedule. */
    pass: (ms: number): void => {
      const endMs = time.nowMs + ms;
      for (;;) {
        const [first] = time.scheduled().toSorted((a, b) => a.dueMs - b.dueMs);
        if (!first || first.dueMs > endMs) break;
        timers.delete(first);
        time.nowMs = Math.max(time.nowMs, first.dueMs);
        first.run();
      }
      time.nowMs = endMs;
    },

    /** The machine sleeps: time passes, and the timers fire when it wakes. */
    sleep: (ms: number): void => {
      time.nowMs += ms;
      for (const timer of time.scheduled()) {
        timers.delete(timer);
        timer.run();
      }
    },
  };
  return time;
};

export type FakeTime = ReturnType<typeof createTime>;
