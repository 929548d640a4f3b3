import type { Refusal } from '../gate/rules/calls.ts';
import { createRefusalMemory } from '../shared/memory/refusal-memory.ts';

// Sessions that this isolate refuses again without a D1 query, as it does API keys.

const SESSIONS_IN_MEMORY = 10_000;

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
