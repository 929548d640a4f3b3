import { env } from 'cloudflare:workers';
import { exports } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { ORIGIN, signUp } from '../support/client.ts';
import { newReceiver } from '../support/receiver.ts';
import { DAY_MS } from '../../src/shared/clock.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Presses a button of the checkout page. */
const press = async (checkoutUrl: string, outcome: string) => {
  const response = await exports.default.fetch(
    new Request(checkoutUrl, { method: 'POST', body: new URLSearchParams({ outcome }), redirect: 'manual' }),
  );
  return { status: response.status, location: response.headers.get('location'), page: await response.text() };
};

test('the whole road: pay, a higher limit on the very next verify, cancel, and free again when it ends', async () => {
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
  const [, word] = await receiver.receives(2);
  expect(JSON.parse(word!.body)).toMatchObject({ event: 'subscription.cancelled', plan: 'pro', ends_at });
  expect((await ada.verify(license_key)).body.api_limit).toBe(100_000);
  expect((await ada.asSession('POST', '/api/cancel-subscription')).body.error.code).toBe(
    'no_active_subscription',
  );

  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(ends_at) - 1_000 });
  expect((await ada.verify(license_key)).body.api_limit).toBe(100_000);
  vi.setSystemTime(Date.parse(ends_at));
  expect((await ada.verify(license_key)).body.api_limit).toBe(1_000);
  expect(env.PAYMENTS).toBe('sandbox');
});
