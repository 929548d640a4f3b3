import type { Refusal } from '../gate/rules/calls.ts';
import { createKeyRefusals } from '../shared/memory/key-refusals.ts';
import { createPaces } from '../shared/memory/paces.ts';
import type { PresentedKey } from '../shared/rules/api-keys.ts';
import { PLANS } from '../shared/rules/plans.ts';

// API keys that this isolate refuses again without calling their gate. This is safe because only refusals that no change
// can undo earlier have `holdsMs`, see `openAdmission`.

const KEYS_IN_MEMORY = 10_000;

const keyRefusals = createKeyRefusals<Refusal>(KEYS_IN_MEMORY);

/** Keys that never become valid. They have the rate of a key on the plan `free`. */
const invalidKeys = createPaces(KEYS_IN_MEMORY);

const spendInvalidKeyRate = ({ fingerprint }: PresentedKey, nowMs: number) =>
  invalidKeys.spend(fingerprint, nowMs, PLANS.free.callsPerSecond);

export const recallKeyRefusal = (key: PresentedKey): Refusal | null => {
  const nowMs = Date.now();
  const refusal = keyRefusals.recall(key, nowMs);
  if (refusal?.refused !== 'api_key_invalid') return refusal;
  const decision = spendInvalidKeyRate(key, nowMs);
  if (decision.allowed) return refusal;
  const { state: rate, retryAfterSeconds } = decision;
  return { refused: 'rate_limit_exceeded', rate, retryAfterSeconds };
};

/** `sentMs` is the time of the call to the gate. The gate decided later, by a clock that may differ from this one. */
export const rememberKeyRefusal = (key: PresentedKey, refusal: Refusal, sentMs: number): void => {
  keyRefusals.remember(key, refusal, sentMs);
  if (refusal.refused === 'api_key_invalid') spendInvalidKeyRate(key, Date.now());
};
