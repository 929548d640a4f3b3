import type { Context } from 'hono';

/**
 * Whether the request comes from our own pages. Browsers send the origin or site of the page. A request without either
 * header comes from a client that chose to send the cookie.
 */
export const isSameOrigin = (c: Context): boolean => {
  const origin = c.req.header('origin');
  if (origin !== undefined) return origin === new URL(c.req.url).origin;
  const site = c.req.header('sec-fetch-site');
  return site === undefined || site === 'same-origin' || site === 'none';
};
