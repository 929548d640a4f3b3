import { decideRate, type RateDecision } from '../rules/rate.ts';
import { createLru } from './lru.ts';

/** The rates of many callers, each by its name. A caller that was evicted from memory counts as recovered. */
export const createPaces = (size: number) => {
  const recoveredAtMs = createLru<number>(size);

  return {
    /** Decides about a call. One that is refused spends nothing. */
    spend: (name: string, nowMs: number, callsPerSecond: number): RateDecision => {
      const decision = decideRate(recoveredAtMs.get(name) ?? 0, nowMs, callsPerSecond);
      recoveredAtMs.set(name, decision.recoveredAtMs);
      return decision;
    },
  };
};
