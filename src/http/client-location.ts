import type { Context } from 'hono';
import type { Location } from '../shared/rules/regions.ts';

/** Returns the client's location as Cloudflare reports it. */
export const clientLocation = (c: Context): Location => (c.req.raw.cf ?? {}) as Location;
