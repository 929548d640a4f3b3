import type { Refusal } from '../gate/rules/calls.ts';
import { createRefusalMemory } from '../shared/memory/refusal-memory.ts';
import type { PresentedKey } from '../shared/rules/api-keys.ts';

// API keys that this isolate refuses again without calling their gate. This is safe because only refusals that no change
// can undo earlier have `holdsMs`, see `openAdmission`.

const KEYS_IN_MEMORY = 10_000;

/** By fingerprint, because a key id alone doesn't authenticate a key. */
const keyRefusals = createRefusalMemory<Refusal>(KEYS_IN_MEMORY);

export const recallKeyRefusal = (key: PresentedKey): Refusal | null =>
  keyRefusals.recall(key.fingerprint, Date.now());

/** `sentMs` is the time of the call to the gate. The gate decided later, by a clock that may differ from this one. */
export const rememberKeyRefusal = (key: PresentedKey, refusal: Refusal, sentMs: number): void =>
  keyRefusals.remember(key.fingerprint, refusal, sentMs);
