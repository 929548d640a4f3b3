import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { appliedFacts } from '../../src/db/schema.ts';
import { eventChange } from '../../src/gate/feed/write.ts';
import { commit } from '../../src/gate/worker/commit.ts';
import { parseLimits } from '../../src/shared/config/parse.ts';
import { settingsOf } from '../../src/shared/config/settings.ts';
import { isoTime } from '../../src/shared/rules/dates.ts';
import { type Limits, OWN_LIMITS } from '../../src/shared/rules/plans.ts';
import { newEvent } from '../../src/shared/text/events.ts';
import { call, type Customer, register, signUp } from '../support/client.ts';
import { ctxOf } from '../support/databases.ts';
import { gate, kill } from '../support/gate.ts';
import { mailsTo } from '../support/mails.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { outbox } from '../support/outbox.ts';

// A service that sells no plans: `PAYMENTS = "none"`. Its operator is often the only seller.

const deployTo = (deployed: object, limits: Limits) => {
  const settings = settingsOf(deployed as Env);
  vi.spyOn(settings, 'payments', 'get').mockReturnValue(null);
  vi.spyOn(settings, 'planLimits', 'get').mockReturnValue(limits);
};

/** Restarts the Worker and the account's gate without plans, as a deployment does. */
const deploy = async ({ accountId }: Customer, limits: Partial<Limits> = {}) => {
  const all = { ...OWN_LIMITS, ...limits };
  deployTo(env, all);
  await runInDurableObject(gate(accountId), (home) => deployTo(Reflect.get(home, 'env'), all));
  await kill(accountId);
};

let ada: Customer;
beforeEach(async () => {
  ada = await signUp();
  await ada.asSession('GET', '/api/dashboard');
});
afterEach(() => {
  vi.restoreAllMocks();
});

const verify = async () => {
  const { body: license } = await ada.asSession('POST', '/api/v1/licenses/create', {});
  return ada.verify(license.license_key);
};

test('an account is on its own plan, which has a billion calls and the rates of the largest plan', async () => {
  await deploy(ada);
  const { body } = await ada.asSession('GET', '/api/account');
  expect(body.plan).toBe('own');
  const { body: verdict, headers } = await verify();
  expect(verdict).toMatchObject({ valid: true, api_limit: 1_000_000_000 });
  expect(headers.get('ratelimit-policy')).toBe('"key";q=2000;w=2');
  const { body: dashboard } = await ada.asSession('GET', '/api/dashboard');
  // A tenth until its address is verified.
  expect(dashboard.storage.limit).toBe(10_000_000_000);
});

test('the operator’s limits hold, and another deployment changes them at once', async () => {
  await deploy(ada, { apiLimit: 1, licenseLimit: 2 });
  expect((await verify()).body.api_limit).toBe(1);
  expect((await verify()).body.error.code).toBe('usage_limit_exceeded');
  const refused = await ada.asSession('POST', '/api/v1/licenses/create', {});
  expect([refused.status, refused.body.error.code]).toEqual([403, 'license_limit_reached']);
  await deploy(ada, { apiLimit: 3 });
  expect((await verify()).body).toMatchObject({ api_usage: 2, api_limit: 3 });
});

test.for([
  ['GET', '/api/billing'],
  ['POST', '/api/init-payment'],
  ['POST', '/api/cancel-subscription'],
  ['POST', '/api/resume-subscription'],
  ['POST', '/api/billing-portal'],
] as const)('%s %s does not exist, with a session and without', async ([method, path]) => {
  await deploy(ada);
  const body = method === 'POST' ? { plan: 'pro' } : undefined;
  for (const answer of [await ada.asSession(method, path, body), await call(method, path, { body })])
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
});

test('no step asks for a plan', async () => {
  await deploy(ada);
  const { body } = await ada.asSession('GET', '/api/developer-progress');
  expect(body.steps.map(({ id }: { id: string }) => id)).not.toContain('choose_plan');
  expect(body.total).toBe(body.steps.length);
});

test('whoever registers then is on the own plan, too', async () => {
  deployTo(env, OWN_LIMITS);
  const registered = await register();
  expect((await registered.asSession('GET', '/api/account')).body.plan).toBe('own');
});

test('an operator can’t grant a plan', async () => {
  await deploy(ada);
  const restore = withOperatorToken();
  const granted = await asOperator('POST', `/operator/accounts/${ada.accountId}/plan`, { plan: 'pro' });
  restore();
  expect(granted.status).toBe(400);
  expect(granted.body.error.details[0].message).toContain('sells no plans');
});

test('no mail speaks of a plan, although a subscription from before still runs', async () => {
  await deploy(ada);
  await runInDurableObject(outbox(ada.accountId), (object) =>
    deployTo(Reflect.get(object, 'env'), OWN_LIMITS),
  );
  const nowMs = Date.now();
  const plan = { plan: 'pro', ends_at: isoTime(nowMs), customer_email: ada.email };
  const usage = { percent: 80, api_usage: 8, api_limit: 10, customer_email: ada.email };
  const events = [
    newEvent('payment.failed', nowMs, plan),
    newEvent('plan.ending', nowMs, { ...plan, reason: 'payment_failed' }),
    newEvent('usage.threshold', nowMs, usage),
  ] as const;
  const [failed, ending, last] = events.map(eventChange);
  const ctx = ctxOf(ada.accountId);
  const nothing = ctx.db.delete(appliedFacts).where(eq(appliedFacts.name, ada.accountId));
  await commit(ctx, [nothing], [failed!, ending!, last!]);
  const subjects = () => mailsTo(ada.email).map(({ subject }) => subject);
  await expect.poll(subjects).toContain('Your account has used 80% of its API calls');
  expect(subjects().filter((subject) => /plan|payment/.test(subject))).toEqual([]);
});

test('PLAN_LIMITS names some limits, and the others stay as they are', () => {
  expect(parseLimits('api_limit:5000, storage_limit:2000000')).toEqual({
    ...OWN_LIMITS,
    apiLimit: 5_000,
    storageBytes: 2_000_000,
  });
});

test.for(['api_limit', 'api_limit:0', 'calls:5', 'calls_per_second:1001', 'api_limit:-1', 'api_limit:1.5'])(
  'PLAN_LIMITS "%s" is refused',
  (text) => {
    expect(() => parseLimits(text)).toThrow('must be a comma-separated list of "name:number"');
  },
);
