import { equalInConstantTime } from '../../shared/crypto/hash.ts';
import { createKeyRefusals } from '../../shared/memory/key-refusals.ts';
import { createLru } from '../../shared/memory/lru.ts';
import { createPaces } from '../../shared/memory/paces.ts';
import type { PresentedKey, KeyScope } from '../../shared/rules/api-keys.ts';
import { includesAddress } from '../../shared/rules/ip-addresses.ts';
import { type Limits, limitsOf, PLANS } from '../../shared/rules/plans.ts';
import { decideSharedRate, raiseRate, type RateDecision } from '../../shared/rules/rate.ts';
import type { Admission, Refusal } from '../rules/calls.ts';
import type { CopiedKey, KeyRows } from '../rules/rows.ts';

/** Memory for keys whose rate limit hasn't recovered. A key that was evicted from memory counts as recovered. */
const KEYS_IN_MEMORY = 5_000;

/** Only a restore of D1 brings an invalid key back, and then the isolates have to notice it. */
const INVALID_HOLDS_MS = 600_000;
/** A rotation without an overlap expires the old key at once, and may be undone shortly afterwards. */
const EXPIRY_STANDS_AFTER_MS = 60_000;
/** A service that is being restored lacks accounts for a while, and its applications call it nevertheless. */
const MISSING_HOLDS_MS = 30_000;

const isValid = (presented: PresentedKey, key: CopiedKey, nowMs: number) =>
  !key.deleted &&
  equalInConstantTime(presented.fingerprint, key.fingerprint) &&
  (key.expiresAt === null || nowMs < key.expiresAt);

const hasJustExpired = ({ expiresAt }: CopiedKey, nowMs: number) =>
  expiresAt !== null && expiresAt <= nowMs && nowMs < expiresAt + EXPIRY_STANDS_AFTER_MS;

const isAllowedFrom = ({ allowedIps }: CopiedKey, { ip }: PresentedKey) =>
  !allowedIps || includesAddress(allowedIps, ip ?? '');

/**
 * Decides which keys may call and how fast. Rates are kept in memory only. `shareOfRate` returns the part of each rate limit
 * that applies here.
 */
export const openAdmission = (copy: KeyRows, shareOfRate: (nowMs: number) => number = () => 1) => {
  const validKeys = createLru<number>(KEYS_IN_MEMORY);
  /** For all valid keys together. */
  let accountRecoveredAtMs = 0;
  /** For valid keys that are not in memory. */
  let otherRecoveredAtMs = 0;
  let share = shareOfRate(Date.now());
  /** Separate, so that an invalid key can't slow down a valid one, nor whoever has stolen one its owner. */
  const invalidKeys = createPaces(KEYS_IN_MEMORY);
  const foreignKeys = createPaces(KEYS_IN_MEMORY);
  const refusals = createKeyRefusals<Refusal>(KEYS_IN_MEMORY);

  /**
   * Returns the refusal of a key that is still too fast. It holds until its time is up, at most 0.1 s, even if a new plan
   * raises the rate in the meantime, because the isolates that remember the refusal couldn't know.
   */
  const heldRefusal = (presented: PresentedKey, nowMs: number): Refusal | null =>
    refusals.recall(presented, nowMs);

  /** Returns the rate after the call, or a refusal. */
  const toAdmission = (
    presented: PresentedKey,
    decision: RateDecision,
    nowMs: number,
    holdsFor: { isForeign?: true } = {},
  ) => {
    if (decision.allowed) return { refused: null, rate: decision.state } as const;
    const { state: rate, retryAfterSeconds, waitMs: holdsMs } = decision;
    const refusal = {
      refused: 'rate_limit_exceeded',
      rate,
      retryAfterSeconds,
      holdsMs,
      ...holdsFor,
    } as const;
    refusals.remember(presented, refusal, nowMs);
    return refusal;
  };

  /** Notes a new share at the time of the change. Otherwise the raised part would be empty when the next call comes. */
  const noteShare = (nowMs: number): number => {
    const before = share;
    share = shareOfRate(nowMs);
    if (share <= before) return share;
    const raise = (recoveredAtMs: number) => raiseRate(recoveredAtMs, nowMs, before / share);
    validKeys.update(raise);
    otherRecoveredAtMs = raise(otherRecoveredAtMs);
    accountRecoveredAtMs = raise(accountRecoveredAtMs);
    return share;
  };

  const spendRate = (presented: PresentedKey, nowMs: number, plan: Limits) => {
    const part = noteShare(nowMs);
    const recoveredAtMs = validKeys.get(presented.keyId) ?? otherRecoveredAtMs;
    const shared = decideSharedRate(recoveredAtMs, accountRecoveredAtMs, nowMs, plan, part);
    validKeys.set(presented.keyId, shared.keyRecoveredAtMs);
    accountRecoveredAtMs = shared.accountRecoveredAtMs;
    return toAdmission(presented, shared.decision, nowMs);
  };

  /**
   * Says for how long no change makes a key valid: ids are never used again, a fingerprint never changes, and a deletion is never
   * undone. The account of a key exists before the key, unless it was lost. An unknown key may be in D1 already, in a change that
   * the gate hasn't pulled yet.
   */
  const refuseInvalid = (hasAccount: boolean, key: CopiedKey | null, nowMs: number): Refusal => {
    if (!hasAccount) return { refused: 'api_key_invalid', holdsMs: MISSING_HOLDS_MS };
    const isForGood = key && !hasJustExpired(key, nowMs);
    return { refused: 'api_key_invalid', ...(isForGood && { holdsMs: INVALID_HOLDS_MS }) };
  };

  return {
    heldRefusal,
    noteShare,

    /** Checks key, address, rate limit, suspension and scope. Every call spends a rate, also one that is refused. */
    admit: (presented: PresentedKey, needs: KeyScope, nowMs: number): Admission => {
      const held = heldRefusal(presented, nowMs);
      if (held) return held;
      const account = copy.account();
      const key = copy.key(presented.keyId);
      if (!account || !key || !isValid(presented, key, nowMs)) {
        const decision = invalidKeys.spend(presented.keyId, nowMs, PLANS.free.callsPerSecond);
        return decision.allowed
          ? refuseInvalid(account !== null, key, nowMs)
          : toAdmission(presented, decision, nowMs);
      }
      const plan = limitsOf(account, nowMs);
      if (!isAllowedFrom(key, presented)) {
        const decision = foreignKeys.spend(presented.keyId, nowMs, plan.callsPerSecond);
        return decision.allowed
          ? { refused: 'ip_not_allowed', rate: decision.state }
          : toAdmission(presented, decision, nowMs, { isForeign: true });
      }
      const admission = spendRate(presented, nowMs, plan);
      if (admission.refused !== null) return admission;
      // Signing in again makes the key valid, so this refusal isn't remembered.
      if (account.eraseAt) return { refused: 'api_key_invalid' };
      if (account.suspendedAt) return { refused: 'account_suspended', rate: admission.rate };
      return needs === 'full' && key.scope !== 'full'
        ? { refused: 'insufficient_scope', rate: admission.rate }
        : admission;
    },
  };
};

export type AdmissionControl = ReturnType<typeof openAdmission>;
