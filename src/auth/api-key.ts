import { createHmac } from 'node:crypto';
import type { ParsedKey } from '../shared/presented-key.ts';
import { equalInConstantTime } from '../shared/hash.ts';
import { ID_BODY_LENGTH } from '../shared/ids.ts';
import { randomBase62, toBase62 } from '../shared/random.ts';
import { createLru } from '../shared/lru.ts';

// An API key is lk_live_ + key id + account id + secret + tag, all letters and digits. The account id tells which gate
// to call. The tag is an HMAC of the rest, so a forged or mistyped key can be refused without any lookup.

const PREFIX = 'lk_live_';
/** 131 random bits. */
const SECRET_LENGTH = 22;
/** 65 bits. The tag only filters out forged keys; the gate authenticates a key by its fingerprint. */
const TAG_LENGTH = 11;
const BODY_LENGTH = PREFIX.length + 2 * ID_BODY_LENGTH + SECRET_LENGTH;

const FORMAT = new RegExp(`^${PREFIX}[0-9A-Za-z]{${BODY_LENGTH - PREFIX.length + TAG_LENGTH}}$`);

/** Computes the HMAC of a key without its tag. Its head becomes the tag, its tail the fingerprint. */
const computeTagAndFingerprint = (apiKeySecret: string, body: string) => {
  const mac = createHmac('sha256', apiKeySecret).update(body).digest();
  return {
    tag: toBase62(mac.subarray(0, TAG_LENGTH)),
    fingerprint: mac.subarray(TAG_LENGTH).toString('base64url'),
  };
};

const withoutPrefix = (id: string) => id.slice(id.indexOf('_') + 1);

export const mintApiKey = (apiKeySecret: string, accountId: string, keyId: string) => {
  const body = PREFIX + withoutPrefix(keyId) + withoutPrefix(accountId) + randomBase62(SECRET_LENGTH);
  const { tag, fingerprint } = computeTagAndFingerprint(apiKeySecret, body);
  return { apiKey: body + tag, fingerprint };
};

const parseUncached = (apiKeySecret: string, apiKey: string): ParsedKey | null => {
  if (!FORMAT.test(apiKey)) return null;
  const body = apiKey.slice(0, BODY_LENGTH);
  const { tag, fingerprint } = computeTagAndFingerprint(apiKeySecret, body);
  if (!equalInConstantTime(tag, apiKey.slice(BODY_LENGTH))) return null;
  const ids = body.slice(PREFIX.length);
  return {
    keyId: `key_${ids.slice(0, ID_BODY_LENGTH)}`,
    accountId: `acct_${ids.slice(ID_BODY_LENGTH, 2 * ID_BODY_LENGTH)}`,
    fingerprint,
  };
};

/** Caches keys whose tag is valid, because the HMAC would be a tenth of the cost of a verify. */
const parsedKeys = createLru<{ apiKeySecret: string; key: ParsedKey }>(2_000);

/** Returns the ids and the fingerprint of an API key, or null if its format or tag is invalid. */
export const parseApiKey = (apiKeySecret: string, apiKey: string): ParsedKey | null => {
  const cached = parsedKeys.get(apiKey);
  if (cached?.apiKeySecret === apiKeySecret) return cached.key;
  const key = parseUncached(apiKeySecret, apiKey);
  if (key) parsedKeys.set(apiKey, { apiKeySecret, key });
  return key;
};

export const maskApiKey = (apiKey: string) => `${apiKey.slice(0, 12)}********${apiKey.slice(-4)}`;
