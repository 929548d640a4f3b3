import type { Context } from 'hono';
import { networkOf } from '../shared/rules/ip-addresses.ts';

/** Returns the client's whole IP address, or null in local runs. */
export const clientAddress = (c: Context): string | null => c.req.header('cf-connecting-ip') ?? null;

/** Returns the client's IP address as Cloudflare reports it, or its network. */
export const clientIp = (c: Context): string => networkOf(clientAddress(c) ?? 'local');
