import { createHmac } from 'node:crypto';
import type { PresentedKey } from '../shared/presented-key.ts';
import { equalInConstantTime } from '../shared/hash.ts';
import { ID_BODY_LENGTH } from '../shared/ids.ts';
import { randomBase62, toBase62 } from '../shared/random.ts';
import { createLru } from '../shared/lru.ts';

// lk_live_ + key id + account id + secret + tag, all letters and digits. The key names its own gate, and the
// tag, a keyed hash of the rest, lets a forged or mistyped key be refused without looking anything up.

const PREFIX = 'lk_live_';
/** 131 random bits. */
const SECRET_LENGTH = 22;
/** 65 bits: a filter, and no proof. The fingerprint in the gate is the proof. */
const TAG_LENGTH = 11;
const BODY_LENGTH = PREFIX.length + 2 * ID_BODY_LENGTH + SECRET_LENGTH;

const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${BODY_LENGTH - PREFIX.length + TAG_LENGTH}}$`);

/** One keyed hash serves twice: its head becomes the tag that the key carries, its tail the fingerprint. */
const authenticate = (apiKeySecret: string, body: string) => {
  const mac = createHmac('sha256', apiKeySecret).update(body).digest();
  return {
    tag: toBase62(mac.subarray(0, TAG_LENGTH)),
    fingerprint: mac.subarray(TAG_LENGTH).toString('base64url'),
  };
};

const bodyOf = (id: string) => id.slice(id.indexOf('_') + 1);

export const mintApiKey = (apiKeySecret: string, accountId: string, keyId: string) => {
  const body = PREFIX + bodyOf(keyId) + bodyOf(accountId) + randomBase62(SECRET_LENGTH);
  const { tag, fingerprint } = authenticate(apiKeySecret, body);
  return { apiKey: body + tag, fingerprint };
};

const readKey = (apiKeySecret: string, apiKey: string): PresentedKey | null => {
  if (!FORM.test(apiKey)) return null;
  const body = apiKey.slice(0, BODY_LENGTH);
  const { tag, fingerprint } = authenticate(apiKeySecret, body);
  if (!equalInConstantTime(tag, apiKey.slice(BODY_LENGTH))) return null;
  const ids = body.slice(PREFIX.length);
  return {
    keyId: `key_${ids.slice(0, ID_BODY_LENGTH)}`,
    accountId: `acct_${ids.slice(ID_BODY_LENGTH, 2 * ID_BODY_LENGTH)}`,
    fingerprint,
  };
};

/** A key comes again and again, and its keyed hash would be a tenth of a verify. Only good ones are kept. */
const goodKeys = createLru<{ apiKeySecret: string; key: PresentedKey }>(2_000);

/** What a key says of itself, if its tag vouches for it. */
export const parseApiKey = (apiKeySecret: string, apiKey: string): PresentedKey | null => {
  const known = goodKeys.get(apiKey);
  if (known?.apiKeySecret === apiKeySecret) return known.key;
  const key = readKey(apiKeySecret, apiKey);
  if (key) goodKeys.set(apiKey, { apiKeySecret, key });
  return key;
};

export const maskApiKey = (apiKey: string) => `${apiKey.slice(0, 12)}********${apiKey.slice(-4)}`;
