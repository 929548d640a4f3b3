import type { Timer } from '../../../src/client/core/options.ts';
import { isWorking, pause } from '../support/work.ts';

interface Entry {
  /** By the time that counts for it. */
  dueMs: number;
  run: () => void;
  /** A timer of the machine stands still while it sleeps. Others are the world's. */
  isMachine: boolean;
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** The time of the world and of a machine in it, which jumps from timer to timer. */
export const createVirtualTime = (startMs: number) => {
  const entries = new Set<Entry>();
  let nowMs = startMs;
  let sleptMs = 0;
  let isAsleep = false;

  const dueMs = ({ isMachine, dueMs: due }: Entry) => (isMachine ? (isAsleep ? Infinity : due + sleptMs) : due);
  const pass = (toMs: number) => {
    if (isAsleep) sleptMs += toMs - nowMs;
    nowMs = toMs;
  };

  /** Waits until nothing happens any more without more time. */
  const quiet = async () => {
    do await nextTurn();
    while (isWorking());
  };

  /** Lets the next timer fire that is due by then. Returns false if there is none. */
  const fire = (untilMs: number): boolean => {
    let next: Entry | null = null;
    for (const entry of entries)
      if (dueMs(entry) <= untilMs && (next === null || dueMs(entry) < dueMs(next))) next = entry;
    if (!next) return false;
    entries.delete(next);
    pass(Math.max(nowMs, dueMs(next)));
    next.run();
    return true;
  };

  const add = (run: () => void, ms: number, isMachine: boolean): Entry => {
    const entry = { run, isMachine, dueMs: nowMs + Math.max(ms, 0) - (isMachine ? sleptMs : 0) };
    entries.add(entry);
    return entry;
  };

  return {
    nowMs: () => nowMs,
    setTimer: (run: () => void, ms: number): Timer => add(run, ms, true) as Timer,
    clearTimer: (timer: Timer) => void entries.delete(timer as Entry),
    wait: (ms: number) => pause(new Promise<void>((resolve) => add(resolve, ms, false))),
    sleep: () => {
      isAsleep = true;
    },
    wake: () => {
      isAsleep = false;
    },

    /** Lets time pass, with everything that happens meanwhile. */
    until: async (ms: number): Promise<void> => {
      await quiet();
      while (fire(ms)) await quiet();
      pass(ms);
      await quiet();
    },

    /** Lets as much time pass as a promise needs. */
    settle: async <T>(promise: Promise<T>): Promise<T> => {
      let isSettled = false;
      const note = () => {
        isSettled = true;
      };
      promise.then(note, note);
      for (;;) {
        await quiet();
        if (isSettled) return promise;
        if (!fire(nowMs + 600_000)) throw new Error('A call takes more than ten minutes.');
      }
    },
  };
};

export type VirtualTime = ReturnType<typeof createVirtualTime>;
