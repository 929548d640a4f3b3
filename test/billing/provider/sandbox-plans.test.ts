import { runInDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { type Customer, signUp } from '../../support/client.ts';
import { accountsD1 } from '../../support/databases.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { evict, gate, tamper } from '../../support/gate.ts';
import { sellerWithLicense } from '../../support/worlds.ts';
import { begin, billingRowsOf, subscribe } from '../sandbox.ts';

const cancel = (customer: Customer, when?: string) =>
  customer.asKey('POST', '/api/cancel-subscription', when ? { at: when } : {});

const withLicense = async () => {
  const { ada, license_key } = await sellerWithLicense();
  return { ada, verify: async () => (await ada.verify(license_key)).body };
};

test('cancel-subscription answers no_active_subscription on the free plan', async () => {
  const { status, body } = await cancel(await signUp());
  expect([status, body.error.code]).toEqual([409, 'no_active_subscription']);
});

test('canceling with at=now ends the plan immediately', async () => {
  const { ada, verify } = await withLicense();
  await subscribe(ada);
  useFakeClock('2027-03-10T12:00:00.000Z');
  const { status, body } = await cancel(ada, 'now');
  expect([status, body.subscription]).toMatchObject([
    200,
    {
      status: 'cancelled',
      cancelled_at: '2027-03-10T12:00:00.000Z',
      ends_at: '2027-03-10T12:00:00.000Z',
    },
  ]);
  expect(await verify()).toMatchObject({ api_limit: 1_000 });
  expect((await ada.asKey('GET', '/api/billing')).body).toMatchObject({ plan: 'free', subscription: null });
  expect((await cancel(ada, 'now')).status).toBe(409);
});

test('a subscription canceled for the end of its period can still be ended now', async () => {
  const { ada, verify } = await withLicense();
  await subscribe(ada);
  await cancel(ada, 'period_end');
  expect(await verify()).toMatchObject({ api_limit: 100_000 });
  expect((await ada.asKey('GET', '/api/billing')).body).toMatchObject({
    plan: 'pro',
    subscription: { status: 'cancelled' },
  });
  expect((await cancel(ada, 'period_end')).status).toBe(409);
  expect((await cancel(ada, 'now')).status).toBe(200);
  expect(await verify()).toMatchObject({ api_limit: 1_000 });
});

test('an account cannot buy its current plan again unless the subscription is canceled', async () => {
  const ada = await signUp();
  await subscribe(ada);
  const again = await ada.asKey('POST', '/api/init-payment', { plan: 'pro' });
  expect([again.status, again.body.error.code]).toEqual([409, 'invalid_transition']);
  await cancel(ada);
  await subscribe(ada);
  expect(await billingRowsOf(ada.accountId)).toMatchObject({
    account: [{ plan: 'pro', plan_until: null }],
    subscriptions: [{ status: 'ended' }, { status: 'active', ends_at: null }],
  });
});

test('usage counting continues across upgrades, and only the newest subscription stays active', async () => {
  const { ada, verify } = await withLicense();
  await verify();
  expect(await verify()).toMatchObject({ api_usage: 2, api_limit: 1_000 });
  await subscribe(ada, 'pro');
  expect(await verify()).toMatchObject({ api_usage: 3, api_limit: 100_000 });
  useFakeClock(Date.now() + DAY_MS);
  await subscribe(ada, 'scale');
  expect(await verify()).toMatchObject({ api_usage: 4, api_limit: 5_000_000 });
  await evict(ada.accountId);
  expect(await verify()).toMatchObject({ api_usage: 5, api_limit: 5_000_000 });
  expect((await billingRowsOf(ada.accountId)).subscriptions).toMatchObject([
    { plan: 'pro', status: 'ended' },
    { plan: 'scale', status: 'active' },
  ]);
});

describe('for an account with an active subscription, the database', () => {
  let ada: Customer;
  beforeAll(async () => {
    ada = await signUp();
    await subscribe(ada);
  });

  const insert = (status: string) =>
    accountsD1
      .prepare(
        `INSERT INTO subscriptions (id, account_id, provider, provider_ref, plan, status, period_start, period_end, created_at, updated_at)
       VALUES (?1, ?2, 'sandbox', ?1, 'scale', ?3, 0, 1, 0, 0)`,
      )
      .bind(crypto.randomUUID(), ada.accountId, status)
      .run();

  test.for(['active', 'past_due', 'cancelled'])('rejects another subscription that is %s', async (status) => {
    await expect(insert(status)).rejects.toThrow(/UNIQUE constraint failed: subscriptions.account_id/);
  });

  test('accepts another subscription that has ended', async () => {
    await expect(insert('ended')).resolves.toMatchObject({ success: true });
  });
});

test('billing shows the plan, the subscription and every payment, and paying completes choose_plan', async () => {
  const ada = await signUp();
  useFakeClock('2027-03-10T12:00:00.000Z');
  const step = async () =>
    (await ada.asKey('GET', '/api/developer-progress')).body.steps.find(
      ({ id }: { id: string }) => id === 'choose_plan',
    );
  const { payment_id } = await begin(ada, { plan: 'scale' });
  expect(await step()).toMatchObject({ done: false, done_at: null });
  await subscribe(ada);
  expect((await ada.asKey('GET', '/api/billing')).body).toEqual({
    plan: 'pro',
    subscription: {
      id: expect.stringMatching(/^sub_/),
      plan: 'pro',
      status: 'active',
      period_start: '2027-03-10T12:00:00.000Z',
      period_end: '2027-04-10T12:00:00.000Z',
      cancelled_at: null,
      ends_at: null,
    },
    payments: [
      {
        payment_id: expect.stringMatching(/^pay_/),
        provider: 'sandbox',
        plan: 'pro',
        status: 'paid',
        amount: 2_900,
        currency: 'usd',
        created_at: '2027-03-10T12:00:00.000Z',
        paid_at: '2027-03-10T12:00:00.000Z',
      },
      expect.objectContaining({ payment_id, plan: 'scale', status: 'replaced', paid_at: null }),
    ],
    plans: expect.any(Array),
  });
  expect(await step()).toMatchObject({ done: true, done_at: '2027-03-10T12:00:00.000Z' });
});

test('the plan still applies after the gate is evicted, starts a new epoch or loses its storage', async () => {
  const { ada, verify } = await withLicense();
  await subscribe(ada);
  await evict(ada.accountId);
  expect(await verify()).toMatchObject({ api_usage: 1, api_limit: 100_000 });
  await tamper(
    ada.accountId,
    "UPDATE facts SET value = json_set(value, '$.epoch', '0') WHERE name = 'progress'",
  );
  expect(await verify()).toMatchObject({ api_usage: 2, api_limit: 100_000 });
  await runInDurableObject(gate(ada.accountId), (_instance, state) => state.storage.deleteAll());
  await evict(ada.accountId);
  expect(await verify()).toMatchObject({ api_limit: 100_000 });
  const endsAt: string = (await cancel(ada)).body.subscription.ends_at;
  await evict(ada.accountId);
  expect(await verify()).toMatchObject({ api_limit: 100_000 });
  useFakeClock(endsAt);
  expect(await verify()).toMatchObject({ api_limit: 1_000 });
});

test('usage is counted per subscription month, which ends on the last day of shorter months', async () => {
  const { ada, verify } = await withLicense();
  useFakeClock('2027-01-31T10:00:00.000Z');
  await subscribe(ada);
  const usage = async () => (await ada.asKey('GET', '/api/dashboard')).body.usage;
  const periodStarts = ['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30', '2027-05-31'];
  for (const [i, day] of periodStarts.slice(0, -1).entries()) {
    const [start, end] = [`${day}T10:00:00.000Z`, `${periodStarts[i + 1]}T10:00:00.000Z`];
    useFakeClock(start);
    expect(await verify()).toMatchObject({ api_usage: 1, api_limit: 100_000 });
    useFakeClock(Date.parse(end) - 1);
    expect(await verify()).toMatchObject({ api_usage: 2 });
    expect(await usage()).toMatchObject({ api_usage: 2, period_start: start, period_end: end });
  }
});
