import { createRefusalMemory } from '../shared/memory/refusal-memory.ts';
import type { PresentedKey } from '../shared/rules/api-keys.ts';
import type { Refusal } from '../gate/rules/replies.ts';

// API keys and sessions that this isolate refuses again without calling their gate, and sessions without a D1 query. This
// is safe because only refusals that no change can undo earlier have `holdsMs`, see `openAdmission`.

const KEYS_IN_MEMORY = 10_000;
const SESSIONS_IN_MEMORY = 10_000;

/** By fingerprint, because a key id alone doesn't authenticate a key. */
const keyRefusals = createRefusalMemory<Refusal>(KEYS_IN_MEMORY);

export const recallKeyRefusal = (key: PresentedKey): Refusal | null =>
  keyRefusals.recall(key.fingerprint, Date.now());

/** `sentMs` is the time of the call to the gate. The gate decided later, by a clock that may differ from this one. */
export const rememberKeyRefusal = (key: PresentedKey, refusal: Refusal, sentMs: number): void =>
  keyRefusals.remember(key.fingerprint, refusal, sentMs);

/** A token is handed out after its session is stored, so a well-formed token that D1 doesn't have has ended for good. */
const ENDED_SESSION = { refused: 'invalid_session', holdsMs: 600_000 } as const;
export type SessionRefusal = Refusal | typeof ENDED_SESSION;

/** By the hash of the token. */
const sessionRefusals = createRefusalMemory<SessionRefusal>(SESSIONS_IN_MEMORY);

export const recallSessionRefusal = (tokenHash: string): SessionRefusal | null =>
  sessionRefusals.recall(tokenHash, Date.now());

export const rememberSessionRefusal = (tokenHash: string, refusal: Refusal, sentMs: number): void =>
  sessionRefusals.remember(tokenHash, refusal, sentMs);

export const rememberEndedSession = (tokenHash: string): void =>
  sessionRefusals.remember(tokenHash, ENDED_SESSION, Date.now());
