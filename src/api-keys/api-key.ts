import { createHmac } from 'node:crypto';
import type { ApiKeySecrets } from '../shared/config/parse.ts';
import { equalInConstantTime, sha256 } from '../shared/crypto/hash.ts';
import { randomBase62, toBase62 } from '../shared/crypto/random.ts';
import { createLru } from '../shared/memory/lru.ts';
import type { ParsedKey } from '../shared/rules/api-keys.ts';
import { ID_BODY_LENGTH } from '../shared/text/ids.ts';

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

const SECRET_ID_LENGTH = 6;

/** A short name of a secret, which tells which API keys need it. It is too short to test guesses of the secret with. */
export const secretIdOf = (apiKeySecret: string) =>
  sha256(`latchkey API_KEY_SECRET ${apiKeySecret}`).slice(0, SECRET_ID_LENGTH);

export const mintApiKey = ([apiKeySecret]: ApiKeySecrets, accountId: string, keyId: string) => {
  const body = PREFIX + withoutPrefix(keyId) + withoutPrefix(accountId) + randomBase62(SECRET_LENGTH);
  const { tag, fingerprint } = computeTagAndFingerprint(apiKeySecret, body);
  return { apiKey: body + tag, fingerprint, secretId: secretIdOf(apiKeySecret) };
};

interface KeyOfSecret {
  apiKeySecret: string;
  key: ParsedKey;
}

const parseUncached = (apiKeySecrets: ApiKeySecrets, apiKey: string): KeyOfSecret | null => {
  if (!FORMAT.test(apiKey)) return null;
  const body = apiKey.slice(0, BODY_LENGTH);
  const ids = body.slice(PREFIX.length);
  for (const apiKeySecret of apiKeySecrets) {
    const { tag, fingerprint } = computeTagAndFingerprint(apiKeySecret, body);
    if (!equalInConstantTime(tag, apiKey.slice(BODY_LENGTH))) continue;
    const keyId = `key_${ids.slice(0, ID_BODY_LENGTH)}`;
    const accountId = `acct_${ids.slice(ID_BODY_LENGTH, 2 * ID_BODY_LENGTH)}`;
    return { apiKeySecret, key: { keyId, accountId, fingerprint } };
  }
  return null;
};

/** Caches keys whose tag is valid, because the HMAC would be a tenth of the cost of a verify. */
const parsedKeys = createLru<KeyOfSecret>(2_000);

/** Returns the ids and the fingerprint of an API key, or null if its format or tag is invalid. */
export const parseApiKey = (apiKeySecrets: ApiKeySecrets, apiKey: string): ParsedKey | null => {
  const cached = parsedKeys.get(apiKey);
  if (cached && apiKeySecrets.includes(cached.apiKeySecret)) return cached.key;
  const parsed = parseUncached(apiKeySecrets, apiKey);
  if (!parsed) return null;
  parsedKeys.set(apiKey, parsed);
  return parsed.key;
};

/** Returns the name of the secret that an API key needs, or null if it isn't in the ring. */
export const neededSecretId = (apiKeySecrets: ApiKeySecrets, apiKey: string): string | null => {
  const parsed = parseUncached(apiKeySecrets, apiKey);
  return parsed && secretIdOf(parsed.apiKeySecret);
};

export const maskApiKey = (apiKey: string) => `${apiKey.slice(0, 12)}********${apiKey.slice(-4)}`;
