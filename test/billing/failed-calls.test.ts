import { expect, onTestFinished, test, vi } from 'vitest';
import { accountsD1 } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { signUpWithStripe, stripeEnv } from '../support/stripe.ts';
import { waitUntil } from '../support/wait-until.ts';

// A call that failed leaves its Idempotency-Key free, so that a repeat does what it could not do.

const openAccount = async () => {
  const ada = await signUpWithStripe();
  const send = (path: string, key: string, body: unknown = {}) =>
    ada.callApi('POST', `/api/${path}`, body, stripeEnv(), { 'idempotency-key': key });
  const init = (key: string) => send('init-payment', key, { plan: 'pro' });
  return { ada, send, init };
};

/** Runs `meanwhile` before Stripe hears the next POST to a path that starts so. What it returns is the answer instead. */
const beforeNext = (path: string, meanwhile: () => Promise<Response | null>) => {
  const { fetch } = globalThis;
  let isNext = true;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, options) => {
    const request = new Request(input, options);
    const isIt = isNext && request.method === 'POST' && new URL(request.url).pathname.startsWith(path);
    if (isIt) isNext = false;
    return (isIt ? await meanwhile() : null) ?? fetch(request);
  });
  onTestFinished(() => {
    spy.mockRestore();
  });
};

const changePayments = (accountId: string, set: string) =>
  accountsD1.prepare(`UPDATE payments SET ${set} WHERE account_id = ?`).bind(accountId).run();

test('a checkout that another plan’s has replaced is not the answer to a repeat', async () => {
  const { ada, init } = await openAccount();
  beforeNext('/v1/checkout/sessions', async () => {
    await ada.begin('scale');
    return null;
  });
  expect((await init('pay')).body.error.code).toBe('invalid_transition');
  expect((await init('pay')).status).toBe(201);
  expect((await ada.billingRows()).payments).toMatchObject([
    { plan: 'pro', status: 'replaced' },
    { plan: 'scale', status: 'replaced' },
    { plan: 'pro', status: 'pending' },
  ]);
});

test('a call that waited for a start that failed starts a checkout when it is repeated', async () => {
  const { ada, init } = await openAccount();
  const claimed = accountsD1.prepare(
    "SELECT count(*) AS n FROM idempotency_keys WHERE account_id = ? AND key = 'second'",
  );
  let second: ReturnType<typeof init> | undefined;
  beforeNext('/v1/checkout/sessions', async () => {
    second = init('second');
    await waitUntil(async () => (await claimed.bind(ada.accountId).first<number>('n')) === 1);
    return Response.json({ error: { type: 'invalid_request_error', message: 'No.' } }, { status: 400 });
  });
  expect([(await init('first')).status, (await second)?.status]).toEqual([503, 503]);
  expect((await init('second')).status).toBe(201);
});

test('a start that was cut off is made up for by a repeat, once it can no longer be under way', async () => {
  useFakeClock();
  const { ada, init } = await openAccount();
  const first = await init('pay');
  await changePayments(ada.accountId, 'checkout_ref = NULL, checkout_url = NULL');
  expect([(await init('pay')).status, (await init('pay')).status]).toEqual([503, 503]);
  await changePayments(ada.accountId, 'created_at = created_at - 10000');
  expect((await init('pay')).status).toBe(503);
  expect((await init('pay')).body).toEqual(first.body);
});

test('a start that was cut off and then replaced is made up for by a repeat', async () => {
  const { ada, init } = await openAccount();
  const first = await init('pay');
  await changePayments(ada.accountId, "checkout_ref = NULL, checkout_url = NULL, status = 'replaced'");
  expect((await init('pay')).status).toBe(503);
  const again = await init('pay');
  expect(again.status).toBe(201);
  expect(again.body.payment_id).not.toBe(first.body.payment_id);
});

test('a subscription that was canceled again while it was resumed is resumed by a repeat', async () => {
  const { ada, send } = await openAccount();
  await ada.subscribe();
  await send('cancel-subscription', 'leave');
  beforeNext('/v1/subscriptions/', async () => {
    await accountsD1
      .prepare('UPDATE subscriptions SET cancelled_at = cancelled_at + 1 WHERE account_id = ?')
      .bind(ada.accountId)
      .run();
    return null;
  });
  expect((await send('resume-subscription', 'stay')).body.error?.code).toBe('no_active_subscription');
  expect((await send('resume-subscription', 'stay')).body.subscription).toMatchObject({ status: 'active' });
});
