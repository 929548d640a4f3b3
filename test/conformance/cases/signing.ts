import { type Proof, type SignedVerdict, toClaims } from '../../../src/tokens/claims.ts';
import { deriveKeys, type SigningKey } from '../../../src/tokens/keys.ts';
import {
  ACCOUNT,
  ACTIVATION_ID,
  FINGERPRINT,
  LICENSE_ID,
  LICENSE_KEY,
  ORIGIN,
  PRODUCT,
  PUBLISHED_RING,
  START,
  TERMS,
} from '../world.ts';

// Signs what the conformance files have, with the published keys.

export const NOW_MS = Date.parse(START);

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The account's key that is the first, second, or third of the published ones. */
export const keyNumber = async (number: number, account = ACCOUNT): Promise<SigningKey> => {
  const [key] = await deriveKeys(PUBLISHED_RING.slice(number - 1, number), account);
  if (!key) throw new Error(`There is no key ${number}.`);
  return key;
};

/** Signs any header and payload, also those that the service never signs. */
export const signAnything = async ({ privateKey }: SigningKey, header: unknown, payload: unknown) => {
  const content = `${encode(header)}.${encode(payload)}`;
  const signature = await crypto.subtle.sign('Ed25519', privateKey, new TextEncoder().encode(content));
  return `${content}.${Buffer.from(signature).toString('base64url')}`;
};

const VERDICT: SignedVerdict = {
  valid: true,
  status: 'active',
  expires_at: null,
  code: 'valid',
  license_key: LICENSE_KEY,
  license_id: LICENSE_ID,
  product: PRODUCT,
  entitlements: TERMS.entitlements ?? {},
  updates_until: null,
  offline_days: 14,
  activation: { id: ACTIVATION_ID, name: null, platform: null, activated_at: START, lease_until: null },
  seats: null,
  retry_at: null,
  machines: null,
};
const PROOF: Proof = { kind: 'online', nonce: 'nonce-0123456789', fingerprint: FINGERPRINT };

/** The claims by which the service says it, but for the random id. */
export const claimsOf = (changes: Partial<SignedVerdict & Proof> = {}, account = ACCOUNT) => {
  const said = { ...VERDICT, ...PROOF, ...changes };
  return { ...toClaims(ORIGIN, account, said, said, NOW_MS), jti: 'published-token' };
};
