import type { Context } from 'hono';
import type { RateState } from '../shared/rules/rate.ts';
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

const ANY_ORIGIN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Latchkey-Region,RateLimit,RateLimit-Policy,Retry-After,X-Request-Id',
};

const NOTHING_LOADS = "default-src 'none'; frame-ancestors 'none'";

/** What all responses of a kind have. Copying the headers of a JSON response costs less than setting each. */
const kindOf = (headers: Record<string, string>) => ({
  entries: Object.entries(headers),
  json: new Headers({ ...headers, 'Content-Type': 'application/json' }),
});

const withSecurity = (policy: string, others: Record<string, string> = {}) => {
  const own = { 'Content-Security-Policy': policy, ...SECURITY_HEADERS, ...others };
  return { own: kindOf(own), anyOrigin: kindOf({ ...own, ...ANY_ORIGIN }) };
};

const BY_PREFIX = Object.entries({
  // Most API responses name secrets or personal data. A route that answers neither sets its own caching.
  '/api/': withSecurity(NOTHING_LOADS, { 'Cache-Control': 'no-store' }),
  '/portal-api/': withSecurity(NOTHING_LOADS, { 'Cache-Control': 'no-store' }),
  '/checkout/': withSecurity(
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'",
  ),
});
const BY_DEFAULT = withSecurity(NOTHING_LOADS);

const headersAt = (path: string) => BY_PREFIX.find(([prefix]) => path.startsWith(prefix))?.[1] ?? BY_DEFAULT;

const setRate = (headers: Headers, rate: RateState) => {
  const policy = rate.policy ?? 'key';
  headers.set('RateLimit-Policy', `"${policy}";q=${rate.quota};w=${rate.windowSeconds}`);
  headers.set('RateLimit', `"${policy}";r=${rate.remaining};t=${rate.resetSeconds}`);
};

/**
 * Makes `c.header` collect headers, and `c.json` build a response with them. Returns a function that sets the headers of
 * any other response. Every response names its request, and says what the context knows: its rate, and that web pages of
 * any origin may read it.
 */
export const collectHeaders = (c: Context<AppEnv>, requestId: string) => {
  const at = headersAt(c.req.path);
  const kind = () => (c.get('anyOrigin') ? at.anyOrigin : at.own);
  const collected: { name: string; value: string; append: boolean }[] = [];
  const complete = (headers: Headers) => {
    headers.set('X-Request-Id', requestId);
    const rate = c.get('rate');
    if (rate) setRate(headers, rate);
    for (const { name, value, append } of collected)
      if (append) headers.append(name, value);
      else headers.set(name, value);
  };
  c.header = (name: string, value = '', { append = false } = {}) => {
    collected.push({ name, value, append });
  };
  c.json = ((value: unknown, status: number) => {
    const response = new Response(JSON.stringify(value), { status, headers: kind().json });
    complete(response.headers);
    return response;
  }) as typeof c.json;

  return ({ headers }: Response): void => {
    if (headers.has('X-Request-Id')) return;
    if (!c.get('hasFileHeaders')) for (const [name, value] of kind().entries) headers.set(name, value);
    complete(headers);
  };
};

/** Answers preflights of an endpoint for web pages of any origin, and refuses other methods as not allowed. */
export const openOnlyTo = (method: string) => (c: Context<AppEnv>) => {
  c.set('anyOrigin', true);
  if (c.req.method !== 'OPTIONS') return c.notFound();
  return c.body(null, 204, {
    'Access-Control-Allow-Methods': method,
    // Tracing libraries add headers of their own to a page's requests, and the calls take no credentials of a browser.
    'Access-Control-Allow-Headers': 'Content-Type,X-Api-Key,Idempotency-Key,*',
    'Access-Control-Max-Age': '86400',
  });
};
