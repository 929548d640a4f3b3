import { expect, test } from 'vitest';
import { documentedRoutes } from '../../scripts/openapi.ts';
import answers from '../../scripts/reference/answers.json' with { type: 'json' };
import { fillRequest } from '../../scripts/reference/fill.ts';
import { type KeptAnswer, kept } from '../../scripts/reference/keep.ts';
import { nameOf, REQUESTS, UNCALLED } from '../../scripts/reference/requests.ts';
import { app } from '../../src/app.ts';
import { call, type Customer, freshAddress, type Json, signUp } from '../support/client.ts';
import { expectDocumented, OPERATIONS, operationAt, schemaErrors } from '../support/openapi.ts';
import { setUpFor } from './example-accounts.ts';

const KEPT: Record<string, KeptAnswer | undefined> = answers;
const ROUTES = new Map(documentedRoutes(app).map((route) => [route.operation.id, route]));

/** The names and types of everything in a value. Lists are as their first item. */
const shapeOf = (value: Json): Json => {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value as object).map(([name, field]) => [name, shapeOf(field)]));
};

const verifyKeyOf = async ({ asSession }: Customer): Promise<string> =>
  (await asSession('POST', '/api/create-api-key', { scope: 'verify' })).body.api_key;

const credentialOf = async (access: string, bySession: boolean, ada: Customer) => {
  if (access === 'public') return {};
  if (bySession) return { authorization: `Bearer ${ada.token}` };
  return { 'x-api-key': access === 'key' ? await verifyKeyOf(ada) : ada.apiKey };
};

test.for(REQUESTS.map((request) => [nameOf(request), request] as const))(
  'the example “%s” gets the answer that the reference shows',
  async ([name, request]) => {
    const route = ROUTES.get(request.operation);
    const shown = KEPT[name];
    if (!route) throw new Error(`There is no operation ${request.operation}.`);
    const ada = await signUp();
    const values = await setUpFor(request.operation)(ada);
    const { path, headers, body } = fillRequest(request, route.path, values);
    expect(`${path}${body ?? ''}`).not.toMatch(/\{[a-z_]+\}/);
    const { access } = route.operation;
    const answer = await call(route.method, path, {
      body,
      headers: {
        'cf-connecting-ip': freshAddress(),
        ...(await credentialOf(access, request.bySession ?? false, ada)),
        ...headers,
      },
    });
    const fresh = kept(answer, values);
    // `npm run examples` reads this line. A test that passes prints nothing.
    console.log(`EXAMPLE ${JSON.stringify({ name, ...fresh })}`);
    expectDocumented(route.method, path, answer);
    expect({ status: fresh.status, body: shapeOf(fresh.body) }).toEqual({
      status: shown?.status,
      body: shapeOf(shown?.body),
    });
    const { operation } = operationAt(route.method, path);
    const [media] = Object.values(operation.responses[answer.status]?.content ?? {});
    const lines: Json[] = Array.isArray(shown?.body) ? shown.body : [shown?.body];
    for (const line of lines) expect(schemaErrors(media?.schema ?? {}, line)).toEqual([]);
  },
);

test('every operation has an example, but for what only a provider of payments calls', () => {
  const shown = new Set(REQUESTS.map(({ operation }) => operation));
  const missing = OPERATIONS.map(({ operation }) => operation.operationId).filter((id) => !shown.has(id));
  expect(missing.toSorted()).toEqual(UNCALLED.toSorted());
});

test('no answer is kept of an example that is gone', () => {
  expect(Object.keys(KEPT).toSorted()).toEqual(REQUESTS.map(nameOf).toSorted());
});

test('no kept answer has a whole secret', () => {
  expect(JSON.stringify(answers)).not.toMatch(/lk_live_\w{5}|lks_\w{5}|whsec_\w{5}|eyJ[\w-]+\.[\w-]+\./);
});
