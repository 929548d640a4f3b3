// The headers of responses in the API document.
import type { EndpointDocs } from '../src/http/openapi.ts';
import { REGIONS } from '../src/shared/rules/regions.ts';

export const HEADERS = {
  'X-Request-Id': { description: 'The id of this request in the logs.', schema: { type: 'string' } },
  RateLimit: {
    description:
      'The rest of the rate limit: `r` calls now, and the full rate in `t` seconds. For a call with an API key, it is the limit of the key (`"key"`) or of all API keys of the account together (`"account"`), whichever is tighter. For a call with a session, it is the limit of all sessions of the account together (`"session"`). A call for a license that doesn’t exist can reach the limit of these (`"unknown-licenses"`).',
    schema: { type: 'string', examples: ['"key";r=19;t=1'] },
  },
  'RateLimit-Policy': {
    description: 'The rate limit that `RateLimit` refers to: `q` calls in `w` seconds.',
    schema: { type: 'string', examples: ['"key";q=20;w=2'] },
  },
  'Latchkey-Region': {
    description:
      'The region that answered. Only where the service answers in more than one region, and not for an account without a home region.',
    schema: { type: 'string', enum: REGIONS },
  },
  ETag: {
    description: 'The version of what was answered, for `If-Match`.',
    schema: { type: 'string', examples: ['"mhxw2k3a-active"'] },
  },
  'Idempotency-Replayed': {
    description: 'Only in the answer to a repeat with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
  'Retry-After': { description: 'Seconds to wait before retrying.', schema: { type: 'integer', minimum: 1 } },
};

const header = (name: keyof typeof HEADERS) => [name, { $ref: `#/components/headers/${name}` }] as const;

/** Other responses come from the Worker alone. */
const FROM_A_REGION = [200, 403, 429];

/** Without a credential, there is no rate limit. A wrong password or code beside a good credential is also a 401. */
const hasRateLimit = (status: number, { access, errors = [] }: EndpointDocs) =>
  access !== 'public' && (status !== 401 || errors.includes('invalid_credentials'));

export const headersOf = (status: number, docs: EndpointDocs) =>
  Object.fromEntries([
    header('X-Request-Id'),
    ...(hasRateLimit(status, docs) ? [header('RateLimit'), header('RateLimit-Policy')] : []),
    ...(docs.namesRegion && FROM_A_REGION.includes(status) ? [header('Latchkey-Region')] : []),
    ...(docs.hasEtag && status < 300 ? [header('ETag')] : []),
    ...(docs.isRepeatable && status < 300 ? [header('Idempotency-Replayed')] : []),
    ...(status === 429 ? [header('Retry-After')] : []),
  ]);
