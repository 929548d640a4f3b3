import { beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { openApiDocument } from '../../scripts/openapi.ts';
import { app } from '../../src/app.ts';
import { call, outcomeOf, register } from '../support/client.ts';
import { schemaErrors, undocumented } from '../support/openapi.ts';

const ERROR = { $ref: '#/components/schemas/Error' };

let ada: Awaited<ReturnType<typeof register>>;

beforeAll(async () => {
  ada = await register();
});

test.for([
  ['GET', '/nothing', 404],
  ['POST', '/api/v1/licenses/a/b/c', 404],
  ['DELETE', '/api/login', 405],
  ['GET', '/docs/nothing.js', 404],
] as const)('%s %s answers %i with the documented error schema', async ([method, path, status]) => {
  const answer = await call(method, path);
  expect(answer.status).toBe(status);
  expect(schemaErrors(ERROR, answer.body)).toEqual([]);
  expect(answer.headers.get('x-request-id')).toBe(answer.body.error.request_id);
});

test('text with unpaired surrogates is stored and returned with replacement characters', async () => {
  const sent = { product: 'a\ud800b', customer_name: '\udc00', metadata: { 'k\ud800': 'v\udfff' } };
  const created = await ada.asSession('POST', '/api/v1/licenses/create', sent);
  expect(created.body.product).toBe('a\ufffdb');
  const stored = await ada.asSession('GET', `/api/v1/licenses/${created.body.id}`);
  expect(stored.body).toEqual(created.body);
});

describe('the check against the document', () => {
  test('reports no problem for a documented answer', async () => {
    const answer = await ada.asSession('GET', '/api/account');
    expect(undocumented('GET', '/api/account', answer)).toEqual([]);
  });

  test.for([
    { name: 'an undocumented status', changes: { status: 201 }, problems: ['status 201 is not documented'] },
    {
      name: 'a missing header',
      changes: { headers: new Headers({ 'content-type': 'application/json' }) },
      problems: ['header X-Request-Id is missing'],
    },
    {
      name: 'an undocumented error code',
      changes: {
        status: 403,
        body: { error: { code: 'not_found', message: 'Not Found', request_id: 'req_1' } },
      },
      problems: ['error not_found is not documented'],
    },
  ])('reports $name', async ({ changes, problems }) => {
    const answer = await ada.asSession('GET', '/api/account');
    expect(undocumented('GET', '/api/account', { ...answer, ...changes })).toEqual(problems);
  });

  test.for([
    { name: 'an undocumented field', changes: { secret: 'x' } },
    { name: 'a value of another format', changes: { created_at: 'now' } },
  ])('reports $name', async ({ changes }) => {
    const answer = await ada.asSession('GET', '/api/account');
    const changed = { ...answer, body: { ...answer.body, ...changes } };
    expect(undocumented('GET', '/api/account', changed)).not.toEqual([]);
  });
});

test('/openapi.json serves the document that is generated from the routes', async () => {
  const served = await call('GET', '/openapi.json');
  expect(served.status).toBe(200);
  expect(served.body).toEqual(structuredClone(openApiDocument(app, packageJson.version)));
});

test('the document has no bounds that are only those of JavaScript, and leaves dates to their format', () => {
  const text = JSON.stringify(openApiDocument(app, packageJson.version));
  expect(text).not.toContain(String(Number.MAX_SAFE_INTEGER));
  expect(text).not.toMatch(/"format":"date(?:-time)?","pattern"/);
});

test('each documented path answers 405 to every other method', async () => {
  const { asSession } = await register();
  const { paths } = openApiDocument(app, packageJson.version);
  for (const [path, operations] of Object.entries(paths)) {
    const methods = Object.keys(operations).map((name) => name.toUpperCase());
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
      (name) => !methods.includes(name),
    )) {
      const answer = await asSession(method, path.replaceAll(/[{][^}]+[}]/g, 'none'));
      expect([method, path, outcomeOf(answer)]).toEqual([method, path, '405 method_not_allowed']);
    }
  }
});
