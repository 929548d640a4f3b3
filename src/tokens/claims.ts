import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { sha256 } from '../shared/crypto/hash.ts';
import { randomBase62 } from '../shared/crypto/random.ts';
import { type Claims, NEGATIVE_TOKEN_MS, tokenEndMs } from '../shared/rules/tokens.ts';
import type { Verdict } from '../shared/rules/verdict.ts';

/** What a token says besides the verdict: what it is, and what proves that it is for this machine and this call. */
export interface Proof extends Pick<Claims, 'kind' | 'nonce'> {
  fingerprint: string | null;
  /** Of a token that a repeated request gets again. */
  id?: string | null;
}

/** A heartbeat that asks for a verify is never signed. */
export type SignedVerdict = Verdict & Pick<Claims, 'code'>;

const LICENSE_KEY_BYTES = 16;
/** A token has at most 1.5 KiB without entitlements. Only a product that isn't the code of one can be longer. */
const MAX_PRODUCT_BYTES = 200;

const seconds = (ms: number) => Math.floor(ms / 1_000);

const hashOfLicenseKey = (licenseKey: string) =>
  createHash('sha256').update(licenseKey).digest().subarray(0, LICENSE_KEY_BYTES).toString('base64url');

const bytesInJson = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;

const cutProduct = (product: string | null): string | null => {
  if (product === null || bytesInJson(product) <= MAX_PRODUCT_BYTES) return product;
  const characters = Array.from(product);
  while (bytesInJson(characters.join('')) > MAX_PRODUCT_BYTES) characters.pop();
  return characters.join('');
};

export const toClaims = (
  origin: string,
  accountId: string,
  verdict: SignedVerdict,
  { kind, nonce, fingerprint, id = null }: Proof,
  nowMs: number,
): Claims => ({
  iss: origin,
  aud: accountId,
  ...(verdict.license_id !== null && { sub: verdict.license_id }),
  iat: seconds(nowMs),
  exp: seconds(verdict.valid ? tokenEndMs(verdict, nowMs) : nowMs + NEGATIVE_TOKEN_MS),
  jti: id ?? randomBase62(16),
  kind,
  valid: verdict.valid,
  code: verdict.code,
  status: verdict.status,
  nonce,
  act: verdict.activation?.id ?? null,
  fp: fingerprint === null ? null : sha256(fingerprint),
  lk: hashOfLicenseKey(verdict.license_key),
  product: cutProduct(verdict.product),
  ent: verdict.entitlements,
  license_ends: verdict.expires_at,
  updates_until: verdict.updates_until,
  ...(verdict.grace_until && { grace_until: verdict.grace_until }),
  lease_until: verdict.activation?.lease_until ? seconds(Date.parse(verdict.activation.lease_until)) : null,
});
