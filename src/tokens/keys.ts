import { Buffer } from 'node:buffer';
import { createLru } from '../shared/memory/lru.ts';

// An account's signing keys follow from the ring of signing secrets and the account's id, so none of them is stored.

/** 32 random bytes each, in base64. The first one signs, and the others have been retired. */
export type SigningRing = readonly string[];

export interface PublicJwk {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
  /** The key's RFC 7638 thumbprint. */
  kid: string;
  use: 'sig';
}

export interface SigningKey {
  jwk: PublicJwk;
  privateKey: CryptoKey;
}

/** Domain separation from any other use of the ring. */
const HKDF_SALT = new TextEncoder().encode('latchkey signing key v1');
/** The DER encoding of a PKCS #8 private key for Ed25519, without the 32 bytes of the key itself. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

const ACCOUNTS_IN_MEMORY = 1_000;
/** Of accounts that sign. Whoever asks for the public keys of other ids must not push these out. */
const signingAccounts = createLru<SigningKey[]>(ACCOUNTS_IN_MEMORY);

const base64url = (bytes: ArrayBuffer) => Buffer.from(bytes).toString('base64url');

const thumbprint = async (x: string): Promise<string> =>
  base64url(
    await crypto.subtle.digest(
      'SHA-256',
      new TextEncoder().encode(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`),
    ),
  );

const deriveSeed = async (secret: string, accountId: string): Promise<ArrayBuffer> => {
  const key = await crypto.subtle.importKey('raw', Buffer.from(secret, 'base64'), 'HKDF', false, [
    'deriveBits',
  ]);
  const info = new TextEncoder().encode(accountId);
  return crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: HKDF_SALT, info }, key, 256);
};

const deriveKey = async (secret: string, accountId: string): Promise<SigningKey> => {
  const pkcs8 = Buffer.concat([PKCS8_HEAD, Buffer.from(await deriveSeed(secret, accountId))]);
  const extractable = await crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', true, ['sign']);
  const { x = '' } = (await crypto.subtle.exportKey('jwk', extractable)) as JsonWebKey;
  const privateKey = await crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, ['sign']);
  return { jwk: { kty: 'OKP', crv: 'Ed25519', x, kid: await thumbprint(x), use: 'sig' }, privateKey };
};

/** Returns an account's keys in the order of the ring: the current key first. */
export const deriveKeys = (ring: SigningRing, accountId: string): Promise<SigningKey[]> =>
  Promise.all(ring.map((secret) => deriveKey(secret, accountId)));

/** Returns the same keys to an account that has proved itself, and remembers them. */
export const signingKeysOf = async (ring: SigningRing, accountId: string): Promise<SigningKey[]> => {
  const name = `${accountId}/${ring.join(',')}`;
  const known = signingAccounts.get(name);
  if (known) return known;
  // Only the finished keys are shared. A promise could belong to a request that is canceled, and would never end.
  const keys = await deriveKeys(ring, accountId);
  signingAccounts.set(name, keys);
  return keys;
};
