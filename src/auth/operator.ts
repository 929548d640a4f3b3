import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { PublicCtx } from '../db/ctx.ts';
import { clientIp } from '../http/client.ts';
import { type AppEnv, publicCtx } from '../http/context.ts';
import { AppError } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { equalInConstantTime, sha256 } from '../shared/crypto/hash.ts';
import { OPERATOR } from '../shared/rules/audit.ts';
import { operatorLimits } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';

const BEARER = /^Bearer +(\S+)$/i;

/**
 * Throws unless the header has the operator's token. Only wrong tokens cost a query, so that metrics can be read while the
 * database is down. `address` is the caller's, whose wrong tokens are limited.
 */
const checkOperatorToken = async (
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

/** Lets the operator alone in. Nothing of an answer is kept on the way. */
export const operatorOnly = createMiddleware<AppEnv>(async (c, next) => {
  await checkOperatorToken(publicCtx(c), c.req.header('authorization'), clientIp(c));
  c.header('Cache-Control', 'no-store');
  await next();
});

/** Records what concerns no single account. The entries are in the first database, under an id that no account has. */
export const operatorAuditCtx = (c: Context<AppEnv>) => ({
  ...publicCtx(c),
  accountId: 'operator',
  actor: OPERATOR,
});
