import { text } from './bytes.ts';
import { importKey, openJws } from './jws.ts';
import type { PinnedKeys, PublicKey } from './types.ts';

const CHAIN_TYPE = 'latchkey+keys';
const MAX_LINKS = 64;

/** The keys that are trusted: the pinned keys, and those to which a chain leads from them. */
export interface KeyRing {
  find(kid: unknown): PublicKey | undefined;
  /** Whether a signature can be checked here. */
  isUsable(): Promise<boolean>;
  /** Trusts the keys to which the chain leads. */
  follow(chain: unknown): Promise<void>;
  /** The links that have led to keys, in the order in which they were followed. */
  links: Iterable<string>;
}

export const openKeyRing = ({ account, keys }: PinnedKeys): KeyRing => {
  const trusted = new Map<unknown, PublicKey>(keys.map((key) => [key.kid, key]));
  const links = new Set<string>();
  const find = (kid: unknown) => trusted.get(kid);
  return {
    find,
    links,
    isUsable: () =>
      Promise.any(keys.map(importKey)).then(
        () => true,
        () => false,
      ),
    follow: async (chain) => {
      for (const link of (Array.isArray(chain) ? chain : []).filter(text).slice(0, MAX_LINKS) as string[]) {
        const payload = await openJws(link, CHAIN_TYPE, find);
        if (typeof payload === 'string') continue;
        const { aud, kid, crv, x } = payload;
        if (aud !== account || crv !== 'Ed25519' || typeof kid !== 'string' || typeof x !== 'string')
          continue;
        if (!trusted.has(kid)) trusted.set(kid, { kty: 'OKP', crv, x, kid });
        links.add(link);
      }
    },
  };
};
