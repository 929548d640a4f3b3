import { createLru } from './lru.ts';

/** Remembers refusals for as long as they hold, so that repeats are refused without deciding again. */
export const createRefusalMemory = <R extends { refused: string; holdsMs?: number }>(size: number) => {
  const held = createLru<{ refusal: R; fromMs: number; untilMs: number }>(size);

  return {
    /** `decidedMs` must not be later than the decision, or the refusal would be remembered for too long. */
    remember: (name: string, refusal: R, decidedMs: number): void => {
      if (refusal.holdsMs === undefined) return;
      const untilMs = decidedMs + refusal.holdsMs;
      const known = held.get(name);
      if (known && known.fromMs <= decidedMs && known.untilMs >= untilMs) return;
      held.set(name, { refusal, fromMs: decidedMs, untilMs });
    },

    /** Ignores refusals from the future: they mean that the clock was set back, which must not lock a caller out. */
    recall: (name: string, nowMs: number): R | null => {
      const known = held.get(name);
      return known && known.fromMs <= nowMs && nowMs < known.untilMs ? known.refusal : null;
    },
  };
};
