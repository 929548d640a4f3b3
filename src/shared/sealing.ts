import { Buffer } from 'node:buffer';

/** Named AES-256 keys in base64. New secrets are sealed with `current`; the others still open theirs. */
export interface SealingRing {
  current: string;
  keys: ReadonlyMap<string, string>;
}

const IV_BYTES = 12;

const imported = new Map<string, Promise<CryptoKey>>();

const aesKey = (ring: SealingRing, name: string): Promise<CryptoKey> => {
  const encoded = ring.keys.get(name);
  if (!encoded) throw new Error(`SEALING_KEYS has no key "${name}", with which a stored secret is sealed.`);
  let key = imported.get(encoded);
  if (!key) {
    key = crypto.subtle.importKey('raw', Buffer.from(encoded, 'base64'), 'AES-GCM', false, [
      'encrypt',
      'decrypt',
    ]);
    imported.set(encoded, key);
  }
  return key;
};

/** What a secret belongs to is authenticated with it: moved to another row, it does not open. */
const algorithm = (iv: Uint8Array<ArrayBuffer>, owner: string[], keyName: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode([...owner, keyName].join('/')),
});

/** `<key name>.<IV and ciphertext>` */
export const seal = async (ring: SealingRing, secret: string, owner: string[]): Promise<string> => {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const key = await aesKey(ring, ring.current);
  const sealed = await crypto.subtle.encrypt(
    algorithm(iv, owner, ring.current),
    key,
    new TextEncoder().encode(secret),
  );
  return `${ring.current}.${Buffer.concat([iv, new Uint8Array(sealed)]).toString('base64url')}`;
};

export const unseal = async (ring: SealingRing, sealed: string, owner: string[]): Promise<string> => {
  const dot = sealed.indexOf('.');
  const keyName = sealed.slice(0, dot);
  const bytes = new Uint8Array(Buffer.from(sealed.slice(dot + 1), 'base64url'));
  const key = await aesKey(ring, keyName);
  const opened = await crypto.subtle.decrypt(
    algorithm(bytes.slice(0, IV_BYTES), owner, keyName),
    key,
    bytes.slice(IV_BYTES),
  );
  return new TextDecoder().decode(opened);
};
