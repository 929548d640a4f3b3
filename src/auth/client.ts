import type { Context } from 'hono';
import { clientIp } from '../http/client-ip.ts';
import { readBrowserToken, readSessionToken } from './session-cookie.ts';

/** Who signs in, and from where. */
export interface Client {
  /** For throttles. */
  ip: string;
  origin: string;
  userAgent: string | null;
  /** The token of the client's previous session, which the new session replaces. */
  previousToken: string | null;
  /** The token of the browser's cookie, which it keeps from sign-in to sign-in. */
  browserToken: string | null;
}

export const clientOf = (c: Context): Client => ({
  ip: clientIp(c),
  origin: new URL(c.req.url).origin,
  userAgent: c.req.header('user-agent') ?? null,
  previousToken: readSessionToken(c)?.token ?? null,
  browserToken: readBrowserToken(c),
});
