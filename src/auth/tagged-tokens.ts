import { createHmac } from 'node:crypto';
import type { PublicCtx } from '../db/ctx.ts';
import { readConfig } from '../shared/config.ts';
import { equalInConstantTime } from '../shared/hash.ts';
import { randomBase62, toBase62 } from '../shared/random.ts';

// A token is prefix + secret + tag, all letters and digits. The tag is an HMAC of the rest, so a forged token can be
// refused without a lookup. The service stores only hashes of tokens, which authenticate them.

type TokenPrefix = 'lks_' | 'lkt_';

/** 256 random bits. */
export const SECRET_LENGTH = 43;
/** 65 bits. */
const TAG_LENGTH = 11;
const PREFIX_LENGTH = 4;
const BODY_LENGTH = PREFIX_LENGTH + SECRET_LENGTH;

const computeTag = ({ env }: Pick<PublicCtx, 'env'>, body: string) =>
  toBase62(createHmac('sha256', readConfig(env).apiKeySecret).update(body).digest().subarray(0, TAG_LENGTH));

export const mintToken = (ctx: Pick<PublicCtx, 'env'>, prefix: TokenPrefix): string => {
  const body = prefix + randomBase62(SECRET_LENGTH);
  return body + computeTag(ctx, body);
};

/** Whether the token's format and tag are valid. */
export const isMinted = (ctx: Pick<PublicCtx, 'env'>, prefix: TokenPrefix, token: string): boolean => {
  if (!token.startsWith(prefix) || token.length !== BODY_LENGTH + TAG_LENGTH) return false;
  if (!/^[0-9A-Za-z]+$/.test(token.slice(PREFIX_LENGTH))) return false;
  return equalInConstantTime(computeTag(ctx, token.slice(0, BODY_LENGTH)), token.slice(BODY_LENGTH));
};
