import { Buffer } from 'node:buffer';

/** Named AES-256 keys in base64. `current` seals new secrets, and every key in the ring unseals its own. */
export interface SealingRing {
  current: string;
  keys: ReadonlyMap<string, string>;
}

const IV_BYTES = 12;

const importedKeys = new Map<string, Promise<CryptoKey>>();

const aesKey = (ring: SealingRing, name: string): Promise<CryptoKey> => {
  const encoded = ring.keys.get(name);
  if (!encoded)
    throw new Error(`A stored secret is sealed with the key "${name}", which is not in SEALING_KEYS.`);
  let key = importedKeys.get(encoded);
  if (!key) {
    key = crypto.subtle.importKey('raw', Buffer.from(encoded, 'base64'), 'AES-GCM', false, [
      'encrypt',
      'decrypt',
    ]);
    importedKeys.set(encoded, key);
  }
  return key;
};

/** The owner is part of the authenticated data, so a sealed secret can't be unsealed from another row. */
const algorithm = (iv: Uint8Array<ArrayBuffer>, owner: string[], keyName: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode([...owner, keyName].join('/')),
});

/** Returns the IV and the ciphertext. */
export const sealBytes = async (
  ring: SealingRing,
  bytes: Uint8Array<ArrayBuffer>,
  owner: string[],
): Promise<Uint8Array<ArrayBuffer>> => {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const key = await aesKey(ring, ring.current);
  const sealed = await crypto.subtle.encrypt(algorithm(iv, owner, ring.current), key, bytes);
  return new Uint8Array(Buffer.concat([iv, new Uint8Array(sealed)]));
};

export const unsealBytes = async (
  ring: SealingRing,
  keyName: string,
  bytes: Uint8Array<ArrayBuffer>,
  owner: string[],
): Promise<Uint8Array<ArrayBuffer>> => {
  const key = await aesKey(ring, keyName);
  const iv = bytes.slice(0, IV_BYTES);
  return new Uint8Array(
    await crypto.subtle.decrypt(algorithm(iv, owner, keyName), key, bytes.slice(IV_BYTES)),
  );
};

/** Returns `<key name>.<IV and ciphertext>`. */
export const seal = async (ring: SealingRing, secret: string, owner: string[]): Promise<string> => {
  const sealed = await sealBytes(ring, new Uint8Array(new TextEncoder().encode(secret)), owner);
  return `${ring.current}.${Buffer.from(sealed).toString('base64url')}`;
};

/** Returns the name of the key that a secret is sealed with. */
export const sealingKeyOf = (sealed: string): string => sealed.slice(0, sealed.indexOf('.'));

export const unseal = async (ring: SealingRing, sealed: string, owner: string[]): Promise<string> => {
  const keyName = sealingKeyOf(sealed);
  const bytes = new Uint8Array(Buffer.from(sealed.slice(keyName.length + 1), 'base64url'));
  return new TextDecoder().decode(await unsealBytes(ring, keyName, bytes, owner));
};
