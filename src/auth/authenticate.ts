import type { Context } from 'hono';
import { parseApiKey } from '../api-keys/api-key.ts';
import { recallKeyRefusal, rememberKeyRefusal } from '../api-keys/refusals.ts';
import type { Ctx } from '../db/ctx.ts';
import { clientAddress } from '../http/client.ts';
import { accountCtx, type AppEnv, publicCtx } from '../http/context.ts';
import type { EndpointDocs } from '../http/openapi.ts';
import {
  recallSessionRefusal,
  rememberEndedSession,
  rememberSessionRefusal,
  type SessionRefusal,
} from '../sessions/refusals.ts';
import { findSession, hashToken, isSeenDue, noteSeen, provedUntil } from '../sessions/sessions.ts';
import { AppError } from '../shared/app-error.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { askGate, gateOf, rememberEpoch } from '../shared/objects/address.ts';
import type { PresentedKey, KeyScope } from '../shared/rules/api-keys.ts';
import { isSameOrigin } from './same-origin.ts';
import { readSessionToken } from './session-cookie.ts';

/** Created only once, because capturing a stack trace would dominate the cost of rejecting an invalid key. */
const INVALID_KEY = new AppError('api_key_invalid');

/** Turns a refusal into an error, and notes its rate. */
export const toRefusalError = (c: Context<AppEnv>, refusal: SessionRefusal): AppError => {
  if (refusal.refused === 'api_key_invalid') return INVALID_KEY;
  if ('rate' in refusal) c.set('rate', refusal.rate);
  return new AppError(
    refusal.refused,
    'retryAfterSeconds' in refusal ? { retryAfterSeconds: refusal.retryAfterSeconds } : {},
  );
};

/** Parses an API key and checks its tag, without any lookup. Refuses it if its last refusal still holds. */
const parsePresentedKey = (c: Context<AppEnv>, apiKey: string): PresentedKey | AppError => {
  const parsed = parseApiKey(settingsOf(c.env).apiKeySecrets, apiKey);
  if (!parsed) return INVALID_KEY;
  const key = { ...parsed, ip: clientAddress(c) };
  c.set('key', key);
  const refusal = recallKeyRefusal(key);
  return refusal ? toRefusalError(c, refusal) : key;
};

/** Asks the account's gate whether the key may make this call. */
export const admitKey = async (
  c: Context<AppEnv>,
  key: PresentedKey,
  needs: KeyScope,
): Promise<AppError | null> => {
  const sentMs = Date.now();
  const admission = await askGate(c.env, key.accountId, async (gate) => gate.admit(key, needs));
  rememberEpoch(key.accountId, admission);
  if (admission.refused !== null) {
    rememberKeyRefusal(key, admission, sentMs);
    return toRefusalError(c, admission);
  }
  c.set('rate', admission.rate);
  return null;
};

/**
 * Asks the account's gate whether its sessions may make another call. Throws if the gate can't be reached: an account that
 * can overload its own gate would otherwise escape its rate limit.
 */
const admitSession = async (
  c: Context<AppEnv>,
  tokenHash: string,
  accountId: string,
  isForSuspended: true | undefined,
): Promise<AppError | null> => {
  const sentMs = Date.now();
  const isChange = !isForSuspended && c.req.method !== 'GET' && c.req.method !== 'HEAD';
  const admission = await gateOf(c.env, accountId).admitSession(isChange);
  rememberEpoch(accountId, admission);
  if (admission.refused !== null) {
    rememberSessionRefusal(tokenHash, admission, sentMs);
    return toRefusalError(c, admission);
  }
  c.set('rate', admission.rate);
  return null;
};

/** Returns the session that a request to a public route carries, if it is one of our pages or clients. */
export const findOwnSession = async (c: Context<AppEnv>) => {
  const presented = readSessionToken(c);
  if (!presented || (presented.fromCookie && !isSameOrigin(c))) return null;
  const tokenHash = hashToken(publicCtx(c), presented.token);
  return tokenHash === null ? null : findSession(publicCtx(c), tokenHash);
};

/** What sessions may do beyond their limits: see `EndpointDocs`. */
type SessionAccess = Pick<EndpointDocs, 'hasUnlimitedSessions' | 'isForSuspended'>;

const authenticateSession = async (
  c: Context<AppEnv>,
  { hasUnlimitedSessions, isForSuspended }: SessionAccess,
): Promise<Ctx | AppError> => {
  const presented = readSessionToken(c);
  if (!presented) return new AppError('api_key_required');
  if (presented.fromCookie && !isSameOrigin(c)) return new AppError('origin_not_allowed');
  const tokenHash = hashToken(publicCtx(c), presented.token);
  if (tokenHash === null) return new AppError('invalid_session');
  const held = recallSessionRefusal(tokenHash);
  if (held && (!hasUnlimitedSessions || held.refused === 'invalid_session')) return toRefusalError(c, held);
  const session = await findSession(publicCtx(c), tokenHash);
  if (!session) {
    rememberEndedSession(tokenHash);
    return new AppError('invalid_session');
  }
  const refusal = hasUnlimitedSessions
    ? null
    : await admitSession(c, tokenHash, session.accountId, isForSuspended);
  if (refusal) return refusal;
  c.set('sessionHash', tokenHash);
  c.set('provedUntilMs', provedUntil(session));
  if (isSeenDue(session)) c.executionCtx.waitUntil(noteSeen(publicCtx(c), tokenHash));
  return accountCtx(c, session.accountId, { kind: 'session', id: session.id });
};

const authenticateKey = async (c: Context<AppEnv>, apiKey: string): Promise<Ctx | AppError> => {
  const key = parsePresentedKey(c, apiKey);
  if (key instanceof AppError) return key;
  const refusal = await admitKey(c, key, 'full');
  return refusal ?? accountCtx(c, key.accountId, { kind: 'api_key', id: key.keyId }, key);
};

/** Accepts an API key or a session. If both are present, the API key decides, even if it is empty. */
export const authenticate = async (c: Context<AppEnv>, access: SessionAccess): Promise<AppError | null> => {
  const apiKey = c.req.header('x-api-key');
  const caller = await (apiKey === undefined ? authenticateSession(c, access) : authenticateKey(c, apiKey));
  if (caller instanceof AppError) return caller;
  c.set('ctx', caller);
  return null;
};

/** Accepts only an API key and checks its tag. The gate checks the rest in the verify call itself. */
export const requireKey = (c: Context<AppEnv>): AppError | null => {
  const apiKey = c.req.header('x-api-key');
  const key = apiKey === undefined ? new AppError('api_key_required') : parsePresentedKey(c, apiKey);
  return key instanceof AppError ? key : null;
};
