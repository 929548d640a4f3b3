import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { DAY_MS, isoTime } from '../../src/shared/rules/dates.ts';
import { type Customer, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, gate, tamper } from '../support/gate.ts';
import { begin, booksOf, subscribe } from './sandbox.ts';

const at = (text: string) => useFakeClock(text);

const cancel = (customer: Customer, when?: string) =>
  customer.asKey('POST', '/api/cancel-subscription', when ? { at: when } : {});

const withLicense = async () => {
  const ada = await signUp();
  const { license_key } = await ada.createLicense();
  return { ada, verify: async () => (await ada.verify(license_key)).body };
};

test('there is nothing to cancel on free', async () => {
  const { status, body } = await cancel(await signUp());
  expect([status, body.error.code]).toEqual([409, 'no_active_subscription']);
});

test('cancelled now, a plan is over at once', async () => {
  const { ada, verify } = await withLicense();
  await subscribe(ada);
  at('2027-03-10T12:00:00.000Z');
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

test('what is cancelled for the end of its period can still be ended now', async () => {
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

test('the plan that an account has can’t be bought again, unless it was cancelled', async () => {
  const ada = await signUp();
  await subscribe(ada);
  const again = await ada.asKey('POST', '/api/init-payment', { plan: 'pro' });
  expect([again.status, again.body.error.code]).toEqual([409, 'invalid_transition']);
  await cancel(ada);
  await subscribe(ada);
  expect(await booksOf(ada.accountId)).toMatchObject({
    account: [{ plan: 'pro', plan_until: null }],
    subscriptions: [{ status: 'ended' }, { status: 'active', ends_at: null }],
  });
});

test('counting goes on from free to pro to scale, and one subscription lives', async () => {
  const { ada, verify } = await withLicense();
  await verify();
  expect(await verify()).toMatchObject({ api_usage: 2, api_limit: 1_000 });
  await subscribe(ada, 'pro');
  expect(await verify()).toMatchObject({ api_usage: 3, api_limit: 100_000 });
  at(isoTime(Date.now() + DAY_MS));
  await subscribe(ada, 'scale');
  expect(await verify()).toMatchObject({ api_usage: 4, api_limit: 5_000_000 });
  await evict(ada.accountId);
  expect(await verify()).toMatchObject({ api_usage: 5, api_limit: 5_000_000 });
  expect((await booksOf(ada.accountId)).subscriptions).toMatchObject([
    { plan: 'pro', status: 'ended' },
    { plan: 'scale', status: 'active' },
  ]);
});

test('the database itself refuses a second live subscription', async () => {
  const ada = await signUp();
  await subscribe(ada);
  const insert = (status: string) =>
    env.DB.prepare(
      `INSERT INTO subscriptions (id, account_id, provider, provider_ref, plan, status, period_start, period_end, created_at, updated_at)
       VALUES (?1, ?2, 'sandbox', ?1, 'scale', ?3, 0, 1, 0, 0)`,
    )
      .bind(crypto.randomUUID(), ada.accountId, status)
      .run();
  for (const status of ['active', 'past_due', 'cancelled']) {
    await expect(insert(status)).rejects.toThrow(/UNIQUE constraint failed: subscriptions.account_id/);
  }
  await insert('ended');
});

test('billing shows the plan, the subscription and every payment, and choosing a plan is a step done', async () => {
  const ada = await signUp();
  at('2027-03-10T12:00:00.000Z');
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

test('the plan holds for a gate that was evicted, that starts another epoch or that has lost its disk', async () => {
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
  const until = Date.parse((await cancel(ada)).body.subscription.ends_at);
  await evict(ada.accountId);
  expect(await verify()).toMatchObject({ api_limit: 100_000 });
  at(isoTime(until));
  expect(await verify()).toMatchObject({ api_limit: 1_000 });
});

test('usage is counted by the subscription’s own months, whose last days it keeps to', async () => {
  const { ada, verify } = await withLicense();
  at('2027-01-31T10:00:00.000Z');
  await subscribe(ada);
  const usage = async () => (await ada.asKey('GET', '/api/dashboard')).body.usage;
  const months = ['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30', '2027-05-31'];
  for (const [i, day] of months.slice(0, -1).entries()) {
    const [start, end] = [`${day}T10:00:00.000Z`, `${months[i + 1]}T10:00:00.000Z`];
    at(start);
    expect(await verify()).toMatchObject({ api_usage: 1, api_limit: 100_000 });
    at(isoTime(Date.parse(end) - 1));
    expect(await verify()).toMatchObject({ api_usage: 2 });
    expect(await usage()).toMatchObject({ api_usage: 2, period_start: start, period_end: end });
  }
});
