import { createHmac } from 'node:crypto';
import type { PublicCtx } from '../db/ctx.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { equalInConstantTime } from '../shared/crypto/hash.ts';
import { randomBase62, toBase62 } from '../shared/crypto/random.ts';

// A token is prefix + secret + tag, all letters and digits. The tag is an HMAC of the rest, so a forged token can be
// refused without a lookup. The service stores only hashes of tokens, which authenticate them.

type TokenPrefix = 'lks_' | 'lkt_' | 'lkb_' | 'lki_' | 'lkp_' | 'lkl_' | 'lkc_';

/** 256 random bits. */
const SECRET_LENGTH = 43;
/** 65 bits. */
const TAG_LENGTH = 11;
const PREFIX_LENGTH = 4;
const BODY_LENGTH = PREFIX_LENGTH + SECRET_LENGTH;

const computeTag = (apiKeySecret: string, body: string) =>
  toBase62(createHmac('sha256', apiKeySecret).update(body).digest().subarray(0, TAG_LENGTH));

export const mintToken = ({ env }: Pick<PublicCtx, 'env'>, prefix: TokenPrefix): string => {
  const body = prefix + randomBase62(SECRET_LENGTH);
  return body + computeTag(settingsOf(env).apiKeySecrets[0], body);
};

/** Whether the token's format and tag are valid. */
export const isMinted = ({ env }: Pick<PublicCtx, 'env'>, prefix: TokenPrefix, token: string): boolean => {
  if (!token.startsWith(prefix) || token.length !== BODY_LENGTH + TAG_LENGTH) return false;
  if (!/^[0-9A-Za-z]+$/.test(token.slice(PREFIX_LENGTH))) return false;
  const [body, tag] = [token.slice(0, BODY_LENGTH), token.slice(BODY_LENGTH)];
  return settingsOf(env).apiKeySecrets.some((secret) => equalInConstantTime(computeTag(secret, body), tag));
};
