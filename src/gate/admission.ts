import { equalInConstantTime } from '../shared/hash.ts';
import { createLru } from '../shared/lru.ts';
import type { PresentedKey } from '../shared/presented-key.ts';
import type { KeyScope } from '../shared/rules/api-keys.ts';
import { effectivePlan, PLANS } from '../shared/rules/plans.ts';
import type { CopiedKey, Copy } from './copy.ts';
import type { Ledger } from './ledger.ts';
import { type Period, periodAt } from './period.ts';
import { currentRate, decideRate, type RateState } from './rate.ts';

export interface Usage {
  apiUsage: number;
  apiLimit: number;
  period: Period;
}

export type Refusal =
  | { refused: 'api_key_invalid' | 'unavailable' }
  | { refused: 'insufficient_scope'; rate: RateState }
  | {
      refused: 'rate_limit_exceeded' | 'usage_limit_exceeded';
      rate: RateState;
      retryAfterSeconds: number;
    };

export type Admission = { refused: null; rate: RateState } | Refusal;

const isValid = (presented: PresentedKey, key: CopiedKey | null, nowMs: number): key is CopiedKey =>
  key !== null &&
  !key.deleted &&
  equalInConstantTime(presented.fingerprint, key.fingerprint) &&
  (key.expiresAt === null || nowMs < key.expiresAt);

/** A key that was evicted from memory counts as fully recovered. */
const KEYS_IN_MEMORY = 5_000;

/** Decides which keys may call, how fast and how often. Rates are kept in memory only. */
export const openAdmission = (copy: Copy, ledger: Ledger) => {
  const recoveredAtMs = createLru<number>(KEYS_IN_MEMORY);

  return {
    usage: (nowMs: number): Usage => {
      const account = copy.account();
      if (!account) throw new Error('The gate has no copy of its account.');
      const period = periodAt(account, nowMs);
      return {
        apiUsage: ledger.periodUsage(period.startMs),
        apiLimit: PLANS[effectivePlan(account, nowMs)].apiLimit,
        period,
      };
    },

    /** Checks key, scope and rate limit. */
    admit: (presented: PresentedKey, needs: KeyScope, nowMs: number): Admission => {
      const account = copy.account();
      const key = copy.key(presented.keyId);
      if (!account || !isValid(presented, key, nowMs)) return { refused: 'api_key_invalid' };
      const { callsPerSecond } = PLANS[effectivePlan(account, nowMs)];
      const recovered = recoveredAtMs.get(presented.keyId) ?? 0;
      if (needs === 'full' && key.scope !== 'full') {
        return { refused: 'insufficient_scope', rate: currentRate(recovered, nowMs, callsPerSecond) };
      }
      const decision = decideRate(recovered, nowMs, callsPerSecond);
      recoveredAtMs.set(presented.keyId, decision.recoveredAtMs);
      if (decision.allowed) return { refused: null, rate: decision.state };
      const { state: rate, retryAfterSeconds } = decision;
      return { refused: 'rate_limit_exceeded', rate, retryAfterSeconds };
    },
  };
};
