import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { NewSession } from './sessions.ts';

// Browsers reject `__Host-` and Secure cookies over plain http, which only local runs use, so the cookie has a different
// name there.

const isHttps = (c: Context) => new URL(c.req.url).protocol === 'https:';
const cookieName = (c: Context) => (isHttps(c) ? '__Host-session' : 'session');
const attributes = (c: Context) =>
  ({ path: '/', httpOnly: true, sameSite: 'Lax', secure: isHttps(c) }) as const;

export const setSessionCookie = (c: Context, { token, expiresAt }: NewSession) =>
  setCookie(c, cookieName(c), token, { ...attributes(c), expires: new Date(expiresAt) });

export const clearSessionCookie = (c: Context) => deleteCookie(c, cookieName(c), attributes(c));

/** Reads the session token. An Authorization header takes precedence over the cookie. */
export const readSessionToken = (c: Context): { token: string; fromCookie: boolean } | null => {
  const bearer = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (bearer) return { token: bearer, fromCookie: false };
  const cookie = getCookie(c, cookieName(c));
  return cookie ? { token: cookie, fromCookie: true } : null;
};
