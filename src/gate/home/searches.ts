import { SEARCH_PACE } from '../../shared/rules/paces.ts';
import { decideRate } from '../../shared/rules/rate.ts';

/** The pace at which the account's lists compare licenses. */
export const openSearches = () => {
  const { licensesPerSecond, windowMs } = SEARCH_PACE;
  let recoveredAtMs = 0;

  return {
    /** Returns null if so many licenses may be compared now, and otherwise in how many seconds. */
    admit: (licenses: number, nowMs: number): number | null => {
      const decision = decideRate(recoveredAtMs, nowMs, licensesPerSecond / licenses, windowMs);
      recoveredAtMs = decision.recoveredAtMs;
      return decision.allowed ? null : decision.retryAfterSeconds;
    },
  };
};
