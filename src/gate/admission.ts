import type { KeyScope } from '../shared/rules/api-keys.ts';
import { equalInConstantTime } from '../shared/hash.ts';
import { effectivePlan, PLANS } from '../shared/rules/plans.ts';
import { createLru } from '../shared/lru.ts';
import type { CopiedKey, Copy } from './copy.ts';
import type { Ledger } from './ledger.ts';
import { type Period, periodAt } from './period.ts';
import { currentRate, decideRate, type RateState } from './rate.ts';

/** A key whose tag was good: what the gate needs to decide on it. */
export interface PresentedKey {
  readonly accountId: string;
  readonly keyId: string;
  readonly fingerprint: string;
}

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

const proves = (presented: PresentedKey, key: CopiedKey | null, nowMs: number): key is CopiedKey =>
  key !== null &&
  !key.deleted &&
  equalInConstantTime(presented.fingerprint, key.fingerprint) &&
  (key.expiresAt === null || nowMs < key.expiresAt);

/** Beyond this many, a key that was not used for as many others is taken for rested. */
const KEYS_IN_MEMORY = 5_000;

/** Decides who may call, how fast and how often. The pace of each key is in memory alone. */
export const openAdmission = (copy: Copy, ledger: Ledger) => {
  const recoveredAtMs = createLru<number>(KEYS_IN_MEMORY);

  return {
    usage: (nowMs: number): Usage => {
      const account = copy.account();
      if (!account) throw new Error('The gate has no account to count for.');
      const period = periodAt(account, nowMs);
      return {
        apiUsage: ledger.periodUsage(period.startMs),
        apiLimit: PLANS[effectivePlan(account, nowMs)].apiLimit,
        period,
      };
    },

    /** Key, scope and pace. */
    admit: (presented: PresentedKey, needs: KeyScope, nowMs: number): Admission => {
      const account = copy.account();
      const key = copy.key(presented.keyId);
      if (!account || !proves(presented, key, nowMs)) return { refused: 'api_key_invalid' };
      const { callsPerSecond } = PLANS[effectivePlan(account, nowMs)];
      const recovered = recoveredAtMs.get(presented.keyId) ?? 0;
      if (needs === 'full' && key.scope !== 'full') {
        return { refused: 'insufficient_scope', rate: currentRate(recovered, nowMs, callsPerSecond) };
      }
      const decision = decideRate(recovered, nowMs, callsPerSecond);
      recoveredAtMs.set(presented.keyId, decision.recoveredAtMs);
      return decision.allowed
        ? { refused: null, rate: decision.state }
        : {
            refused: 'rate_limit_exceeded',
            rate: decision.state,
            retryAfterSeconds: decision.retryAfterSeconds,
          };
    },
  };
};
