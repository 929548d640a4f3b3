import type { PresentedKey } from '../rules/api-keys.ts';
import { createRefusalMemory } from './refusal-memory.ts';

interface KeyRefusal {
  refused: string;
  holdsMs?: number;
  isForeign?: true;
}

/** By fingerprint, because a key id alone doesn't authenticate a key. */
const everywhere = ({ fingerprint }: PresentedKey) => fingerprint;
const fromItsAddress = ({ fingerprint, ip }: PresentedKey) => `${fingerprint} ${ip}`;

/** Remembers the refusals of API keys, some of which hold only for the address that the key came from. */
export const createKeyRefusals = <R extends KeyRefusal>(size: number) => {
  const refusals = createRefusalMemory<R>(size);
  /** Separate, because whoever has a network of addresses could fill the memory with them. */
  const foreign = createRefusalMemory<R>(size);

  return {
    remember: (key: PresentedKey, refusal: R, decidedMs: number): void =>
      refusal.isForeign
        ? foreign.remember(fromItsAddress(key), refusal, decidedMs)
        : refusals.remember(everywhere(key), refusal, decidedMs),

    recall: (key: PresentedKey, nowMs: number): R | null =>
      refusals.recall(everywhere(key), nowMs) ?? foreign.recall(fromItsAddress(key), nowMs),
  };
};
