import { env, exports } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { DAY_MS } from '../../../src/shared/rules/dates.ts';
import { ORIGIN, signUp } from '../../support/client.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { newReceiver } from '../../support/receiver.ts';
import { sellerWithLicense, sellerWithWebhook } from '../../support/worlds.ts';
import { begin, billingRowsOf, press } from '../sandbox.ts';

test('paying raises the limit immediately, and a canceled plan applies until its end', async () => {
  const ada = await signUp();
  const receiver = await newReceiver();
  await ada.asSession('POST', '/api/webhooks', {
    url: receiver.url,
    events: ['payment.success', 'subscription.cancelled'],
  });
  const { license_key } = await ada.createLicense();
  expect((await ada.verify(license_key)).body).toMatchObject({ api_usage: 1, api_limit: 1_000 });

  const begun = await ada.asSession('POST', '/api/init-payment', { plan: 'pro' });
  expect(begun.status).toBe(201);
  expect(begun.body).toEqual({
    payment_id: expect.stringMatching(/^pay_/),
    provider: 'sandbox',
    plan: 'pro',
    amount: 2_900,
    currency: 'usd',
    status: 'pending',
    checkout_url: `${ORIGIN}/checkout/${begun.body.payment_id}`,
  });
  const page = await exports.default.fetch(begun.body.checkout_url);
  expect(page.headers.get('content-type')).toMatch('text/html');
  expect(await page.text()).toContain('$29');

  const paid = await press(begun.body.checkout_url, 'paid');
  expect(paid).toMatchObject({ status: 303, location: `${ORIGIN}/checkout/${begun.body.payment_id}` });
  expect((await ada.verify(license_key)).body).toMatchObject({ api_usage: 2, api_limit: 100_000 });
  const [success] = await receiver.receives(1);
  expect(JSON.parse(success!.body)).toMatchObject({
    event: 'payment.success',
    payment_id: begun.body.payment_id,
    plan: 'pro',
    amount: 2_900,
    currency: 'usd',
    customer_email: ada.email,
  });
  expect((await ada.asSession('GET', '/api/account')).body.plan).toBe('pro');

  const cancelled = await ada.asSession('POST', '/api/cancel-subscription', {});
  expect(cancelled.status).toBe(200);
  const { ends_at } = cancelled.body.subscription;
  expect(Date.parse(ends_at)).toBeGreaterThan(Date.now() + 27 * DAY_MS);
  const [, cancellation] = await receiver.receives(2);
  expect(JSON.parse(cancellation!.body)).toMatchObject({
    event: 'subscription.cancelled',
    plan: 'pro',
    ends_at,
  });
  expect((await ada.verify(license_key)).body.api_limit).toBe(100_000);
  expect((await ada.asSession('POST', '/api/cancel-subscription')).body.error.code).toBe(
    'no_active_subscription',
  );

  useFakeClock(Date.parse(ends_at) - 1_000);
  expect((await ada.verify(license_key)).body.api_limit).toBe(100_000);
  vi.setSystemTime(Date.parse(ends_at));
  expect((await ada.verify(license_key)).body.api_limit).toBe(1_000);
  expect(env.PAYMENTS).toBe('sandbox');
});

test('a declined payment changes nothing and redirects to cancel_url', async () => {
  const { ada, license_key } = await sellerWithLicense();
  const { checkout_url } = await begin(ada, { cancel_url: '/prices?again=1' });
  expect(await press(checkout_url, 'declined')).toMatchObject({
    status: 303,
    location: `${ORIGIN}/prices?again=1`,
  });
  expect(await billingRowsOf(ada.accountId)).toMatchObject({
    account: [{ plan: 'free', plan_until: null }],
    subscriptions: [],
    payments: [{ status: 'declined' }],
  });
  expect((await ada.verify(license_key)).body.api_limit).toBe(1_000);
  // A declined checkout cannot be paid later.
  expect(await press(checkout_url, 'paid')).toMatchObject({ status: 409 });
  expect((await billingRowsOf(ada.accountId)).subscriptions).toEqual([]);
});

test('submitting the checkout page several times pays once', async () => {
  const { ada, receiver } = await sellerWithWebhook({ events: ['payment.success'] });
  const { checkout_url } = await begin(ada);
  await Promise.all([1, 2, 3].map(() => press(checkout_url, 'paid')));
  const again = await press(checkout_url, 'paid');
  expect(again.status).toBe(409);
  expect(again.page).toContain('The plan is active');
  expect(await billingRowsOf(ada.accountId)).toMatchObject({
    subscriptions: [{ status: 'active' }],
    payments: [{ status: 'paid' }],
  });
  await receiver.receives(1);
  const dashboard = await ada.asSession('GET', '/api/dashboard');
  expect(dashboard.body.recent_events).toHaveLength(1);
});

test('a second checkout replaces the pending checkout, whose page explains this and accepts no payment', async () => {
  const ada = await signUp();
  const first = await begin(ada);
  const second = await begin(ada, { plan: 'scale' });
  const page = await exports.default.fetch(first.checkout_url);
  expect(await page.text()).toContain('A newer checkout has replaced this one.');
  expect(await press(first.checkout_url, 'paid')).toMatchObject({ status: 409 });
  expect(await press(second.checkout_url, 'paid')).toMatchObject({ status: 303 });
  expect(await billingRowsOf(ada.accountId)).toMatchObject({
    subscriptions: [{ plan: 'scale' }],
    payments: [{ status: 'replaced' }, { status: 'paid' }],
  });
});

test('the checkout page has a strict content security policy and works without scripts', async () => {
  const ada = await signUp();
  const { checkout_url } = await begin(ada, { success_url: '/?x=<script>alert(1)</script>' });
  const page = await exports.default.fetch(checkout_url);
  const text = await page.text();
  expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
  expect(page.headers.get('content-security-policy')).not.toMatch(/script-src|unsafe-eval/);
  expect(text).toMatch(/<form method="post">[^]*name="outcome" value="paid"[^]*value="declined"/);
  expect(text).not.toMatch(/<script/i);
  expect((await press(checkout_url, 'neither')).status).toBe(400);
});

test.for(['pay_unknown', '%3Cscript%3E'])('the checkout page of %s answers 404 in JSON', async (id) => {
  const unknown = await exports.default.fetch(`${ORIGIN}/checkout/${id}`);
  expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'application/json']);
});
