import { expect, test } from 'vitest';
import { call, freshAddress, outcomeOf, register, signUp } from '../support/client.ts';
import { firstD1 } from '../support/databases.ts';
import { setUsage } from '../support/gate.ts';
import { expectDocumented, operationAt, OPERATIONS, schemaErrors } from '../support/openapi.ts';
import type { Call, Values } from './area.ts';
import { credentialsOf } from './callers.ts';
import { TARGETS } from './targets.ts';

/** Operations that a session over its rate limit can still call. */
const UNLIMITED_FOR_SESSIONS = ['logout'];

/** What `endpoint()` accepts, and which answers then have the headers of the rate limit. */
const isLimited = (method: string, path: string, as: Call['as']) => {
  const { security, operationId } = operationAt(method, path).operation;
  if (as === 'session' && UNLIMITED_FOR_SESSIONS.includes(operationId)) return false;
  if (as === 'key' || as === 'verify-only key') return security.some((scheme) => 'apiKey' in scheme);
  return as === 'session' && security.some((scheme) => 'session' in scheme);
};

/** Returns how an accepted body differs from the document, which doesn't describe files and providers' notifications. */
const bodyErrors = (method: string, path: string, body: string): string[] => {
  const schema = operationAt(method, path).operation.requestBody?.content['application/json']?.schema;
  return schema && !path.startsWith('/api/billing/') ? schemaErrors(schema, JSON.parse(body)) : [];
};

const fillIn = (text: string, values: Values) =>
  text.replace(/\{([a-z -]+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);

test.for(TARGETS.map((target) => [target.method, target.path, target] as const))(
  '%s %s answers as documented',
  async ([method, target, { calls, area }]) => {
    const ada = await signUp();
    const values = (await area.setUp?.(ada)) ?? {};
    const path = fillIn(target, values);
    for (const { when, as = 'session', body, headers = {}, answers } of calls) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const sent = text === undefined ? undefined : fillIn(text, values);
      const answer = await call(method, path, {
        body: sent,
        headers: {
          'cf-connecting-ip': freshAddress(),
          ...(await credentialsOf(as, ada)),
          ...Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name, fillIn(value, values)]),
          ),
        },
      });
      expect([when, outcomeOf(answer)]).toEqual([when, answers]);
      expectDocumented(method, path, answer);
      expect([when, answer.headers.has('RateLimit')]).toEqual([when, isLimited(method, path, as)]);
      const accepted = answer.status < 300 ? sent : undefined;
      expect(accepted === undefined ? [] : bodyErrors(method, path, accepted)).toEqual([]);
    }
  },
);

test('the calls cover a success and an error of every operation that has them', () => {
  const operationsWith = (isSuccess: boolean) =>
    TARGETS.filter(({ calls }) => calls.some(({ answers }) => answers.endsWith(' ok') === isSuccess)).map(
      ({ method, path }) => operationAt(method, path).operation.operationId,
    );
  const all = OPERATIONS.map(({ operation }) => operation.operationId);
  const missing = (isSuccess: boolean) => all.filter((id) => !operationsWith(isSuccess).includes(id));
  expect({ success: missing(true), error: missing(false) }).toEqual({
    // Stripe is not configured here. test/billing has its tests.
    success: ['stripeNotification'],
    error: ['getHealth'],
  });
});

test.for([
  ['GET', '/api/account', undefined],
  ['POST', '/api/v1/licenses/verify', { license_key: 'UNKNOWN-KEY' }],
] as const)('%s %s over the rate limit of a key answers as documented', async ([method, path, body]) => {
  const { asKey } = await signUp();
  const statuses = new Set([200]);
  // On a slow machine a burst can stay within the rate limit.
  while (!statuses.has(429)) {
    const burst = Array.from({ length: 40 }, () => asKey(method, path, body));
    for (const answer of await Promise.all(burst)) {
      statuses.add(answer.status);
      expectDocumented(method, path, answer);
    }
  }
  expect(statuses.size).toBe(2);
});

test.for(['/api/register', '/api/login'])(
  'POST %s answers as documented after too many attempts from one address',
  async (path) => {
    const { email } = await register();
    const body = { email: email, password: 'x'.repeat(10) };
    const attempt = () => call('POST', path, { body, headers: { 'cf-connecting-ip': '192.0.2.60' } });
    await attempt();
    await firstD1.exec('UPDATE throttles SET attempts = 1000');
    const answer = await attempt();
    expect(answer.body.error.code).toBe('rate_limit_exceeded');
    expectDocumented('POST', path, answer);
    await firstD1.exec('DELETE FROM throttles');
  },
);

test.for([
  ['/api/v1/licenses/verify', { license_key: 'UNKNOWN-KEY' }],
  ['/api/v1/licenses/create', {}],
] as const)('POST %s over the usage limit of the account answers as documented', async ([path, body]) => {
  const { accountId, asKey } = await signUp();
  await setUsage(accountId, 1_000);
  const answer = await asKey('POST', path, body);
  expect(answer.body.error.code).toBe('usage_limit_exceeded');
  expectDocumented('POST', path, answer);
});
