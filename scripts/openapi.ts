import type { Hono } from 'hono';
import * as z from 'zod';
import type { AppEnv } from '../src/http/context.ts';
import { ERRORS, errorBody } from '../src/http/errors.ts';
import { ifMatch } from '../src/http/etag.ts';
import { IDEMPOTENCY_KEY, idempotencyKey } from '../src/http/idempotency.ts';
import { type Access, documentationOf, type EndpointDocs } from '../src/http/openapi.ts';
import type { ErrorCode } from '../src/shared/app-error.ts';
import { HEADERS, headersOf } from './openapi-headers.ts';
import { type Json, jsonSchema, namedSchemas } from './openapi-schemas.ts';
import { documentedExample } from './reference/examples.ts';

export interface Route {
  method: string;
  path: string;
  operation: EndpointDocs;
}

/** Returns the documented routes, one for each method of each path. */
export const documentedRoutes = (app: Pick<Hono<AppEnv>, 'routes'>): Route[] =>
  app.routes.flatMap(({ method, path, handler }) => {
    const operation = documentationOf(handler);
    return operation ? [{ method, path, operation }] : [];
  });

const BY_ACCESS: Record<Access, ErrorCode[]> = {
  public: [],
  key: ['api_key_required', 'api_key_invalid', 'ip_not_allowed', 'account_suspended', 'rate_limit_exceeded'],
  account: [
    'api_key_required',
    'invalid_session',
    'api_key_invalid',
    'ip_not_allowed',
    'account_suspended',
    'insufficient_scope',
    'origin_not_allowed',
    'rate_limit_exceeded',
  ],
};

const errorsOfInput = ({ body, file }: EndpointDocs): ErrorCode[] => {
  if (!body && !file) return [];
  const errors = ['body_too_large', 'unsupported_media_type'] as const;
  return file ? [...errors] : ['invalid_json', ...errors];
};

/** What adds to an account, or only changes it. */
const ADDING = new Set(['POST', 'PUT', 'PATCH']);

const errorsOf = ({ method, operation }: Route): ErrorCode[] => [
  ...new Set([
    // Each route refuses a query parameter that it doesn't take.
    'invalid_request' as const,
    ...errorsOfInput(operation),
    ...BY_ACCESS[operation.access],
    ...(operation.access === 'account' && ADDING.has(method.toUpperCase())
      ? (['storage_limit_reached'] as const)
      : []),
    ...(operation.wantsProof ? (['reauthentication_required'] as const) : []),
    ...(operation.isRepeatable ? (['idempotency_conflict'] as const) : []),
    ...(operation.takesIfMatch ? (['precondition_failed'] as const) : []),
    ...(operation.errors ?? []),
    ...(['internal_error', 'unavailable'] as const),
  ]),
];

const reference = (schema: z.ZodType) => {
  const id = z.globalRegistry.get(schema)?.id;
  if (!id) throw new Error('A schema in the API has no name. Add `.meta({ id })` to it.');
  return { $ref: `#/components/schemas/${id}` };
};

const errorResponses = (route: Route) => {
  const byStatus = Map.groupBy(errorsOf(route), (code) => ERRORS[code].status);
  return [...byStatus].map(([status, codes]): [number, Json] => [
    status,
    {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('  \n'),
      headers: headersOf(status, route.operation),
      content: {
        'application/json': {
          schema: reference(errorBody),
          examples: Object.fromEntries(
            codes.map((code) => [
              code,
              {
                value: {
                  error: { code, message: ERRORS[code].message, request_id: 'req_0VJ1mKq7XbT2c9LpQwZa' },
                },
              },
            ]),
          ),
        },
      },
    },
  ]);
};

const responses = (route: Route) => {
  const { answer } = documentedExample(route.operation.id, route.path);
  const own = route.operation.answers.map(
    ({ status, description, schema, contentType = 'application/json' }): [number, Json] => [
      status,
      {
        description,
        headers: headersOf(status, route.operation),
        content: {
          [contentType]: {
            schema: reference(schema),
            ...(answer?.status === status && { example: answer.example }),
          },
        },
      },
    ],
  );
  return Object.fromEntries(
    [...errorResponses(route), ...own].map(([status, response]) => [String(status), response]),
  );
};

const parametersIn = (where: 'query' | 'header', schema: z.ZodType | undefined) => {
  const { properties = {}, required = [] } = schema ? jsonSchema(schema, 'input') : {};
  return Object.entries(properties).map(([name, { description, ...field }]) => ({
    name: where === 'header' ? name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()) : name,
    in: where,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    // Entries of an object, as in `metadata[order]=1001`.
    ...(field['type'] === 'object' && { style: 'deepObject', explode: true }),
    schema: field,
  }));
};

const REPEATABLE = z.object({ [IDEMPOTENCY_KEY]: idempotencyKey.optional() });
const CONDITIONAL = z.object({ 'if-match': ifMatch.optional() });

const pathParameters = ({ path, operation }: Route) => {
  const { parameters } = documentedExample(operation.id, path);
  return [...path.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(parameters[name] !== undefined && { example: parameters[name] }),
  }));
};

const parameters = (route: Route) => [
  ...pathParameters(route),
  ...(route.operation.isRepeatable ? parametersIn('header', REPEATABLE) : []),
  ...(route.operation.takesIfMatch ? parametersIn('header', CONDITIONAL) : []),
  ...parametersIn('query', route.operation.query),
];

const requestBody = ({ path, operation: { id, body, file } }: Route) => {
  const schema = body ?? file?.schema;
  if (!schema) return {};
  const contentTypes = file?.contentTypes ?? ['application/json'];
  const sent = documentedExample(id, path).body;
  return {
    requestBody: {
      required: !body?.safeParse({}).success,
      content: Object.fromEntries(
        contentTypes.map((type) => [
          type,
          { schema: reference(schema), ...(sent?.contentType === type && { example: sent.example }) },
        ]),
      ),
    },
  };
};

const SECURITY: Record<Access, Json[]> = {
  public: [],
  key: [{ apiKey: [] }],
  account: [{ apiKey: [] }, { session: [] }, { sessionCookie: [] }],
};

const operationOf = (route: Route) => {
  const { id, tag, summary, description, access } = route.operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: SECURITY[access],
    parameters: parameters(route),
    ...requestBody(route),
    responses: responses(route),
  };
};

const inputsOf = (routes: Route[]) =>
  routes.flatMap(({ operation: { query, body, file } }) => [query, body, file?.schema]);

const OVERVIEW = `Latchkey issues and verifies software licenses.

Every response is JSON. All errors have the schema \`Error\`, including those for unknown paths (404 \`not_found\`) and
unsupported methods (405 \`method_not_allowed\`, with an \`Allow\` header). Lists take \`limit\` and \`cursor\` and
return \`next_cursor\`. An unknown query parameter answers 400 \`invalid_request\`. Times are ISO 8601 in UTC, and dates are YYYY-MM-DD.
HEAD answers wherever GET does. A body can be compressed with gzip or deflate, and its limit counts the bytes
that it has without. Slashes that are doubled or at the end of a path make no difference. Over plain http, GET and HEAD are redirected
to https, and every other method answers 403 \`https_required\`. What your customers' browsers call in [the portal](/docs/portal) is not in
this document. Without a customer's session, it answers 401 \`portal_session_required\`. Neither are the URLs of
[stores](/docs/selling), which answer 401 \`invalid_signature\` to whatever the store has not signed.`;

export const openApiDocument = (app: Pick<Hono<AppEnv>, 'routes'>, version: string) => {
  const routes = documentedRoutes(app);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Latchkey', version, description: OVERVIEW, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ operation }) => operation.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: namedSchemas(inputsOf(routes)),
      headers: HEADERS,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        session: { type: 'http', scheme: 'bearer', description: 'The session token from register or login.' },
        sessionCookie: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-session',
          description:
            'Set by register and login. Over plain http it is named `session`. Refused if another origin’s page sends it.',
        },
      },
    },
  };
};
