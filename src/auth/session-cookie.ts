import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { NewSession } from '../sessions/sessions.ts';

// Two cookies: the session's, and one by which an account recognizes a browser at its next sign-in. Browsers reject
// `__Host-` and Secure cookies over plain http, which only local runs use, so they have different names there.

const isHttps = (c: Context) => new URL(c.req.url).protocol === 'https:';
const nameOf = (c: Context, name: string) => (isHttps(c) ? `__Host-${name}` : name);
const cookieName = (c: Context) => nameOf(c, 'session');
const browserCookieName = (c: Context) => nameOf(c, 'browser');
const attributes = (c: Context) =>
  ({ path: '/', httpOnly: true, sameSite: 'Lax', secure: isHttps(c) }) as const;

export const clearSessionCookie = (c: Context) => deleteCookie(c, cookieName(c), attributes(c));

/** Reads the session token. An Authorization header takes precedence over the cookie. */
export const readSessionToken = (c: Context): { token: string; fromCookie: boolean } | null => {
  const bearer = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (bearer) return { token: bearer, fromCookie: false };
  const cookie = getCookie(c, cookieName(c));
  return cookie ? { token: cookie, fromCookie: true } : null;
};

/** The longest time for which browsers keep a cookie. */
const BROWSER_SECONDS = 400 * 86_400;

export const setSignInCookies = (
  c: Context,
  { session, browserToken }: { session: NewSession; browserToken: string },
) => {
  setCookie(c, cookieName(c), session.token, { ...attributes(c), expires: new Date(session.expiresAt) });
  setCookie(c, browserCookieName(c), browserToken, { ...attributes(c), maxAge: BROWSER_SECONDS });
};

export const readBrowserToken = (c: Context): string | null => getCookie(c, browserCookieName(c)) ?? null;
