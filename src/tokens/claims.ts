import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { sha256 } from '../shared/crypto/hash.ts';
import { randomBase62 } from '../shared/crypto/random.ts';
import type { EntitlementValue } from '../shared/rules/terms.ts';
import { NEGATIVE_TOKEN_MS, tokenEndMs } from '../shared/rules/tokens.ts';

type TokenKind = 'online' | 'offline';

/** What a token says about a license. */
export interface Statement {
  kind: TokenKind;
  valid: boolean;
  code: string;
  status: string;
  nonce: string | null;
  fingerprint: string | null;
  /** The license key as stored or, if there is no such license, as presented. */
  licenseKey: string;
  /** Null if there is no such license. */
  licenseId: string | null;
  activationId: string | null;
  product: string | null;
  entitlements: Record<string, EntitlementValue>;
  licenseEnds: string | null;
  updatesUntil: string | null;
  /** How long the token is good without contact. */
  offlineDays: number;
  leaseUntilMs: number | null;
}

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

export const toClaims = (origin: string, accountId: string, statement: Statement, nowMs: number) => ({
  iss: origin,
  aud: accountId,
  sub: statement.licenseId,
  iat: seconds(nowMs),
  exp: seconds(statement.valid ? tokenEndMs(statement, nowMs) : nowMs + NEGATIVE_TOKEN_MS),
  jti: randomBase62(16),
  kind: statement.kind,
  valid: statement.valid,
  code: statement.code,
  status: statement.status,
  nonce: statement.nonce,
  act: statement.activationId,
  fp: statement.fingerprint === null ? null : sha256(statement.fingerprint),
  lk: hashOfLicenseKey(statement.licenseKey),
  product: cutProduct(statement.product),
  ent: statement.entitlements,
  license_ends: statement.licenseEnds,
  updates_until: statement.updatesUntil,
});
