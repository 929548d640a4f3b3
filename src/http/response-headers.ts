import type { Context } from 'hono';
import type { AppEnv } from './context.ts';

// A response gets all of its headers when it is built. Hono would copy them twice and set each by itself, which would be a
// tenth of what a verify costs the Worker.

const SECURITY_HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=15552000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

const NOTHING_LOADS = "default-src 'none'; frame-ancestors 'none'";

const withSecurity = (policy: string, others: Record<string, string> = {}) => {
  const all = { 'Content-Security-Policy': policy, ...SECURITY_HEADERS, ...others };
  return { entries: Object.entries(all), json: new Headers({ ...all, 'Content-Type': 'application/json' }) };
};

const BY_PREFIX = Object.entries({
  // Most API responses name secrets or personal data. A route that answers neither sets its own caching.
  '/api/': withSecurity(NOTHING_LOADS, { 'Cache-Control': 'no-store' }),
  '/docs': withSecurity(
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
  ),
  '/checkout/': withSecurity(
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'",
  ),
});
const BY_DEFAULT = withSecurity(NOTHING_LOADS);

const headersAt = (path: string) => BY_PREFIX.find(([prefix]) => path.startsWith(prefix))?.[1] ?? BY_DEFAULT;

/**
 * Makes `c.header` collect headers, and `c.json` build a response with them. Returns a function that sets the headers of
 * any other response.
 */
export const collectHeaders = (c: Context<AppEnv>, requestId: string) => {
  const { entries, json } = headersAt(c.req.path);
  const collected = [{ name: 'X-Request-Id', value: requestId, append: false }];
  const addCollected = (headers: Headers) => {
    for (const { name, value, append } of collected)
      if (append) headers.append(name, value);
      else headers.set(name, value);
  };
  c.header = (name: string, value = '', { append = false } = {}) => {
    collected.push({ name, value, append });
  };
  c.json = ((value: unknown, status: number) => {
    const response = new Response(JSON.stringify(value), { status, headers: json });
    addCollected(response.headers);
    return response;
  }) as typeof c.json;

  return ({ headers }: Response): void => {
    if (headers.has('X-Request-Id')) return;
    // The dashboard's files get their headers from `web/public/_headers`.
    if (!c.get('isDashboard')) for (const [name, value] of entries) headers.set(name, value);
    addCollected(headers);
  };
};
