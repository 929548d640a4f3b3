import type { Answer, Asked } from './asked.ts';
import type { Check } from './broken.ts';

// All places together admit no more calls with a key than the key's rate limit allows: a burst of two seconds' worth, and then
// so many a second. A restart forgets what was spent, and so does a move of home and a clock that is set forward.

const BURST_SECONDS = 2;
/** Clocks may run a little fast. */
const DRIFT = 1.03;

interface Admitted {
  begunMs: number;
  endedMs: number;
  callsPerSecond: number;
}

/** `forgottenMs` are the times at which home has started or moved, or a clock was set. */
export const openRates = (check: Check, forgottenMs: readonly number[]) => {
  const byKey = new Map<number, Admitted[]>();

  return {
    answered: ({ key, begunMs }: Asked, reply: Answer, endedMs: number, callsPerSecond: number) => {
      if (reply.refused !== null) return;
      const calls = byKey.get(key) ?? [];
      byKey.set(key, calls);
      calls.push({ begunMs, endedMs, callsPerSecond });
    },

    checkEnd: () => {
      for (const [key, calls] of byKey) {
        for (const { begunMs: fromMs } of calls) {
          let count = 0;
          let perSecond = 0;
          // They are in the order of their ends.
          for (const { begunMs, endedMs, callsPerSecond } of calls) {
            if (begunMs < fromMs) continue;
            count++;
            perSecond = Math.max(perSecond, callsPerSecond);
            const seconds = ((endedMs - fromMs) / 1_000) * DRIFT;
            const bursts = 1 + forgottenMs.filter((ms) => ms > fromMs && ms < endedMs).length;
            const most = perSecond * (bursts * BURST_SECONDS + seconds) + 1;
            check(count <= most, () => `${count} calls with key ${key} are admitted within ${seconds} s`);
          }
        }
      }
    },
  };
};
