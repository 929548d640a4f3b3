import type { World } from '../world.ts';
import type { Check } from './broken.ts';

/** The platform repeats a call for ten seconds, and a cut may hold it up. */
const REPEATS_MS = 120_000;

export interface Tallied {
  begunMs: number;
  /** Whether it has had the effect, by its answer. */
  hasEffect: boolean | null;
}

/**
 * How many of some calls must have had an effect, and how many may have had it. A call that was cut off or slow may have its
 * effect without an answer, and once more if the Worker asks another object, or one that has forgotten the call.
 * `isJudgedAgain` is set if a repeat may be answered in another way than the call that has had the effect.
 */
export const openTally = (
  { time, traces, startsMs }: World,
  check: Check,
  what: string,
  isJudgedAgain = false,
) => {
  const calls = new Map<string, Tallied>();

  const mostOf = (name: string, { begunMs }: Tallied): number => {
    const starts = startsMs.filter((ms) => ms >= begunMs && ms < begunMs + REPEATS_MS);
    return Math.max(1, traces.of(name).asked.size) + starts.length;
  };

  return {
    began: (name: string) => calls.set(name, { begunMs: time.nowMs(), hasEffect: null }),

    answered: (name: string, hasEffect: boolean) => {
      const call = calls.get(name);
      if (call) call.hasEffect = hasEffect;
    },

    /** How many have not had it, as far as it is known. */
    open: () => [...calls.values()].filter(({ hasEffect }) => !hasEffect).length,

    check: (count: number) => {
      let [least, most] = [0, 0];
      for (const [name, call] of calls) {
        const { hasEffect } = call;
        const isCertain = hasEffect !== null && !traces.of(name).isTroubled;
        if (hasEffect && (isCertain || !isJudgedAgain)) least++;
        most += isCertain ? Number(hasEffect) : mostOf(name, call);
      }
      check(least <= count && count <= most, () => `there are ${count} ${what}, not ${least} to ${most}`);
    },
  };
};
