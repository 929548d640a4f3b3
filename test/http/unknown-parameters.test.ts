import { expect, onTestFinished, test } from 'vitest';
import { app } from '../../src/app.ts';
import { type Answer, call } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { sellerWithLicense } from '../support/worlds.ts';
import { expectError } from './expect-error.ts';
import { accountRoutes, APPLICATION_CALLS, nameOf, pathTo, type Route, routes } from './security.ts';

type Send = (method: string, path: string) => Promise<Answer>;

/** Calls each route with a parameter that none has. Returns the routes that don't refuse it, with their answers. */
const thatIgnoreIt = async (chosen: Pick<Route, 'method' | 'path'>[], send: Send) => {
  const answers: Record<string, unknown> = {};
  for (const route of chosen) {
    const { status, body } = await send(route.method, `${pathTo(route, {})}?colour=blue`);
    const details = body?.error?.details;
    const isRefused = status === 400 && body.error.code === 'invalid_request' && details[0].path === 'colour';
    if (!isRefused) answers[nameOf(route)] = [status, body];
  }
  return answers;
};

test('every route refuses a query parameter that it doesn’t have', async () => {
  const { ada, license_key } = await sellerWithLicense({}, 'pro');
  expect(await thatIgnoreIt(accountRoutes, ada.asSession)).toEqual({});
  const keyRoutes = routes.filter(({ operation }) => operation.access === 'key');
  expect(keyRoutes).toHaveLength(APPLICATION_CALLS.length);
  const withKey: Send = (method, path) => ada.asKey(method, path, { license_key });
  expect(await thatIgnoreIt(keyRoutes, withKey)).toEqual({});
  const publicRoutes = routes.filter(({ operation }) => operation.access === 'public');
  expect(await thatIgnoreIt(publicRoutes, call)).toEqual({});
});

test('every path of the operator refuses a query parameter that it doesn’t have', async () => {
  onTestFinished(withOperatorToken());
  const paths = app.routes.filter(({ method, path }) => method !== 'ALL' && path.startsWith('/operator/'));
  expect(paths.length).toBeGreaterThan(6);
  expect(await thatIgnoreIt(paths, asOperator)).toEqual({});
});

test('a misspelled filter doesn’t list every license', async () => {
  const { ada } = await sellerWithLicense();
  const answer = await ada.asKey('GET', '/api/v1/licenses?email=grace@example.com&Status=active&limit=1');
  expectError(answer, 400, 'invalid_request');
  expect(answer.body.error.details).toEqual([
    { path: 'email', message: 'is not a known parameter' },
    { path: 'Status', message: 'is not a known parameter' },
  ]);
});

test('a parameter with an entry is refused unless it has entries', async () => {
  const { ada } = await sellerWithLicense();
  const list = async (query: string) => {
    const { status, body } = await ada.asKey('GET', `/api/v1/licenses?${query}`);
    return [status, body.error?.details];
  };
  const unknown = (path: string) => [400, [{ path, message: 'is not a known parameter' }]];
  expect(await list('q=abc&q.typo=1')).toEqual(unknown('q.typo'));
  expect(await list('q.typo=1&q=abc')).toEqual(unknown('q.typo'));
  expect(await list('limit[max]=1')).toEqual(unknown('limit[max]'));
  expect(await list('metadata.order=1&metadata[name]=2')).toEqual([200, undefined]);
  expect((await list(`metadata.${'x'.repeat(300)}=1`))[1]).not.toEqual(
    unknown(`metadata.${'x'.repeat(300)}`)[1],
  );
});

test('a caller without access learns nothing of parameters, and a call that is refused for one spends the key’s rate', async () => {
  useFakeClock();
  const { ada } = await sellerWithLicense();
  expectError(await call('GET', '/api/v1/licenses?colour=blue'), 401, 'api_key_required');
  const verify = () => ada.asKey('POST', '/api/v1/licenses/verify?colour=blue', { license_key: 'AAAAAAAA' });
  const answers = await Promise.all(Array.from({ length: 30 }, verify));
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(8);
  expect(answers.filter(({ status }) => status === 200)).toEqual([]);
});
