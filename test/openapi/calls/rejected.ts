import { documentedRoutes } from '../../../scripts/openapi.ts';
import { app } from '../../../src/app.ts';
import type { Area, Call } from '../area.ts';
import type { Caller } from '../callers.ts';

type Route = ReturnType<typeof documentedRoutes>[number];
type Access = Route['operation']['access'];

const ANONYMOUS: Call = {
  as: 'anonymous',
  when: 'the request has no credentials',
  answers: '401 api_key_required',
};
const FORGED_KEY: Call = { as: 'forged key', when: 'the API key is forged', answers: '403 api_key_invalid' };

const FORBIDDEN: Record<Access, Call[]> = {
  public: [],
  key: [ANONYMOUS, FORGED_KEY],
  account: [
    ANONYMOUS,
    FORGED_KEY,
    { as: 'forged session', when: 'the session is unknown', answers: '401 invalid_session' },
    {
      as: 'verify-only key',
      when: 'the API key has only the scope verify',
      answers: '403 insufficient_scope',
    },
    { as: 'foreign page', when: 'the request comes from another site', answers: '403 origin_not_allowed' },
  ],
};

const ALLOWED: Record<Access, Caller> = { public: 'anonymous', key: 'key', account: 'session' };

const WRONG_TYPE: Call = {
  when: 'the content type is not JSON',
  body: 'a=b',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  answers: '415 unsupported_media_type',
};

const INVALID_BODIES: Call[] = [
  { when: 'the body is not valid JSON', body: '{', answers: '400 invalid_json' },
  { when: 'the body is an array', body: [], answers: '400 invalid_request' },
  { when: 'the body is over 64 KiB', body: `"${'x'.repeat(65_536)}"`, answers: '413 body_too_large' },
  WRONG_TYPE,
];

const INVALID_QUERY: Call = { when: 'the query is invalid', answers: '400 invalid_request' };

const callsTo = ({ method, path, operation }: Route): Area['calls'] => {
  const target = `${method} ${path.replace(/:[a-z_]+/g, 'none')}`;
  const as = ALLOWED[operation.access];
  const { body, file, query } = operation;
  // The lines of a file that isn't JSON are checked one by one.
  const invalid = file ? [WRONG_TYPE] : INVALID_BODIES;
  const calls = [
    ...FORBIDDEN[operation.access],
    ...(body || file ? invalid : []).map((call) => ({ ...call, as })),
  ];
  return {
    ...(calls.length > 0 && { [target]: calls }),
    ...(query && { [`${target}?limit=0&cursor=x`]: [{ ...INVALID_QUERY, as }] }),
  };
};

/** Calls that every operation rejects because of their credentials or their input. */
export const REJECTED: Area = {
  calls: Object.assign({}, ...documentedRoutes(app).map(callsTo)) as Area['calls'],
};
