import type { Context } from 'hono';

/** Returns the client's whole IP address, or null in local runs. */
export const clientAddress = (c: Context): string | null => c.req.header('cf-connecting-ip') ?? null;

/**
 * Returns the client's IP address as Cloudflare reports it. An IPv6 address is reduced to its /64 network, because a
 * single client usually controls all of its addresses.
 */
export const clientIp = (c: Context): string => {
  const ip = clientAddress(c) ?? 'local';
  return ip.includes(':') ? networkOf(ip) : ip;
};

const networkOf = (ip: string): string => {
  const [head = '', tail = ''] = ip.toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = ip.includes('::') ? Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0') : [];
  return [...left, ...zeros, ...right]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
};
