import type { Context } from 'hono';
import { networkOf } from '../shared/rules/ip-addresses.ts';
import type { Location } from '../shared/rules/regions.ts';

// What Cloudflare reports of the client.

/** Returns the client's whole IP address, or null in local runs. */
export const clientAddress = (c: Context): string | null => c.req.header('cf-connecting-ip') ?? null;

/** Returns the client's IP address, or its network. */
export const clientIp = (c: Context): string => networkOf(clientAddress(c) ?? 'local');

/** Returns the client's location. */
export const clientLocation = (c: Context): Location => (c.req.raw.cf ?? {}) as Location;
