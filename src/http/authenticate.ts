import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { findSession } from '../accounts/sessions.ts';
import { readSessionToken } from '../accounts/session-cookie.ts';
import { parseApiKey } from '../api-keys/format.ts';
import type { KeyScope } from '../db/schema.ts';
import type { PresentedKey, Refusal } from '../gate/admission.ts';
import { gateOf } from '../gate/feed.ts';
import type { RateState } from '../gate/rate.ts';
import { AppError } from '../shared/app-error.ts';
import { readConfig } from '../shared/config.ts';
import { accountCtx, type AppEnv, publicCtx } from './context.ts';

export const setRateHeaders = (c: Context<AppEnv>, rate: RateState) => {
  c.header('RateLimit-Policy', `"key";q=${rate.quota};w=${rate.windowSeconds}`);
  c.header('RateLimit', `"key";r=${rate.remaining};t=${rate.resetSeconds}`);
};

export const refusalError = (c: Context<AppEnv>, refusal: Refusal): AppError => {
  if ('rate' in refusal) setRateHeaders(c, refusal.rate);
  return new AppError(
    refusal.refused,
    'retryAfterSeconds' in refusal ? { headers: { 'Retry-After': String(refusal.retryAfterSeconds) } } : {},
  );
};

/** Made once: what a stack costs would be a good part of what it costs to refuse a forged key. */
const NO_SUCH_KEY = new AppError('api_key_invalid');

/** The key as far as its tag vouches for it: nothing has been looked up. */
export const presentKey = (c: Context<AppEnv>, apiKey: string): PresentedKey => {
  const key = parseApiKey(readConfig(c.env).apiKeySecret, apiKey);
  if (!key) throw NO_SUCH_KEY;
  c.set('key', key);
  return key;
};

/** Asks the key's gate whether it may call. */
export const admitKey = async (c: Context<AppEnv>, key: PresentedKey, needs: KeyScope): Promise<void> => {
  const admission = await gateOf(c.env, key.accountId).admit(key, needs);
  if (admission.refused !== null) throw refusalError(c, admission);
  setRateHeaders(c, admission.rate);
};

/** A browser names the page that sends a request; without a browser there is nobody to trick. */
const isOwnOrigin = (c: Context<AppEnv>): boolean => {
  const origin = c.req.header('origin');
  if (origin !== undefined) return origin === new URL(c.req.url).origin;
  const site = c.req.header('sec-fetch-site');
  return site === undefined || site === 'same-origin' || site === 'none';
};

const bySession = async (c: Context<AppEnv>) => {
  const presented = readSessionToken(c);
  if (!presented) throw new AppError('api_key_required');
  if (presented.fromCookie && !isOwnOrigin(c)) throw new AppError('origin_not_allowed');
  const session = await findSession(publicCtx(c), presented.token);
  if (!session) throw new AppError('invalid_session');
  c.set('sessionHash', session.tokenHash);
  return accountCtx(c, session.accountId, null);
};

const byKey = async (c: Context<AppEnv>, apiKey: string) => {
  const key = presentKey(c, apiKey);
  await admitKey(c, key, 'full');
  return accountCtx(c, key.accountId, key);
};

/** Who asks: a present API key decides alone, without one a session serves. */
export const authenticate = createMiddleware<AppEnv>(async (c, next) => {
  const apiKey = c.req.header('x-api-key');
  c.set('ctx', apiKey ? await byKey(c, apiKey) : await bySession(c));
  await next();
});

/** An API key alone; its gate is left to the verb, so that a verify stays one call. */
export const requireKey = createMiddleware<AppEnv>(async (c, next) => {
  const apiKey = c.req.header('x-api-key');
  if (!apiKey) throw new AppError('api_key_required');
  presentKey(c, apiKey);
  await next();
});
