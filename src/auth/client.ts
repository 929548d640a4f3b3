import type { Context } from 'hono';
import { clientIp } from '../http/client.ts';
import type { AppEnv } from '../http/context.ts';
import { settingsOf } from '../shared/config/settings.ts';
import type { Client } from '../users/client.ts';
import { readBrowserToken, readSessionToken } from './session-cookie.ts';

export const clientOf = (c: Context<AppEnv>): Client => ({
  ip: clientIp(c),
  origin: settingsOf(c.env).publicOrigin ?? new URL(c.req.url).origin,
  userAgent: c.req.header('user-agent') ?? null,
  previousToken: readSessionToken(c)?.token ?? null,
  browserToken: readBrowserToken(c),
});
