import type { PublicCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { equalInConstantTime, sha256 } from '../shared/crypto/hash.ts';
import { operatorLimits } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';

const BEARER = /^Bearer +(\S+)$/i;

/**
 * Throws unless the header has the operator's token. Only wrong tokens cost a query, so that metrics can be read while the
 * database is down. `address` is the caller's, whose wrong tokens are limited.
 */
export const checkOperatorToken = async (
  ctx: PublicCtx,
  authorization: string | undefined,
  address: string,
): Promise<void> => {
  const { operatorToken: token } = settingsOf(ctx.env);
  if (token === null) throw new AppError('not_found');
  const presented = BEARER.exec(authorization ?? '')?.[1];
  // Hashes have the same length, and how much of them agrees tells nothing about the token.
  if (presented !== undefined && equalInConstantTime(sha256(presented), sha256(token))) return;
  await consumeAttempts(ctx, operatorLimits(address));
  throw new AppError('invalid_credentials', { message: 'Invalid Operator Token' });
};
