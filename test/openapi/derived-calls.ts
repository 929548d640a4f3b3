import { documentedRoutes } from '../../scripts/openapi.ts';
import { app } from '../../src/app.ts';
import type { Call, CallerName } from './fixtures.ts';

const FORBIDDEN: Omit<Call, 'method' | 'path'>[] = [
  { as: 'anonymous', when: 'the request has no credentials', status: 401, code: 'api_key_required' },
  { as: 'forged session', when: 'the session is unknown', status: 401, code: 'invalid_session' },
  { as: 'forged key', when: 'the API key is forged', status: 403, code: 'api_key_invalid' },
  {
    as: 'verify-only key',
    when: 'the API key has only the scope verify',
    status: 403,
    code: 'insufficient_scope',
  },
  {
    as: 'foreign page',
    when: 'the request comes from another site',
    status: 403,
    code: 'origin_not_allowed',
  },
];

const INVALID_BODIES: Omit<Call, 'method' | 'path' | 'as'>[] = [
  { when: 'the body is not valid JSON', body: '{', status: 400, code: 'invalid_json' },
  { when: 'the body is an array', body: [], status: 400, code: 'invalid_request' },
  { when: 'the body is over 64 KiB', body: `"${'x'.repeat(65_536)}"`, status: 413, code: 'body_too_large' },
  {
    when: 'the content type is not JSON',
    body: 'a=b',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    code: 'unsupported_media_type',
  },
];

/** The lines of a file that isn't JSON are checked one by one. */
const INVALID_FILES = INVALID_BODIES.filter(({ status }) => status === 415);

/** Calls that every route rejects because of their credentials or their input. */
export const derivedCalls = (): Call[] =>
  documentedRoutes(app).flatMap(({ method, path, operation, inputs }) => {
    const target = { method, path: path.replace(/:[a-z_]+/g, 'none') };
    const as: CallerName = { public: 'anonymous', key: 'key', account: 'session' }[
      operation.access
    ] as CallerName;
    const forbidden = {
      public: [],
      key: FORBIDDEN.filter(({ as }) => as === 'anonymous' || as === 'forged key'),
      account: FORBIDDEN,
    }[operation.access];
    const calls: Call[] = forbidden.map((row) => ({ ...target, ...row }));
    for (const input of inputs) {
      const invalid = input.contentTypes ? INVALID_FILES : INVALID_BODIES;
      if (input.in === 'body') calls.push(...invalid.map((row) => ({ ...target, as, ...row })));
      if (input.in === 'query') {
        const bad = { when: 'the query is invalid', status: 400, code: 'invalid_request' } as const;
        calls.push({ ...target, path: `${target.path}?limit=0&cursor=x`, as, ...bad });
      }
    }
    return calls;
  });
