import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { sandboxNotification } from '../../../src/billing/provider/sandbox.ts';
import { newId } from '../../../src/shared/text/ids.ts';
import { call, type Customer, freshAddress, ORIGIN, signUp } from '../../support/client.ts';
import { recordStatements } from '../../support/d1-queries.ts';
import { useFakeClock } from '../../support/fake-clock.ts';
import { callIn } from '../../support/stripe.ts';
import { begin, billingRowsOf, press, subscribe } from '../sandbox.ts';

const FOREIGN_URLS = [
  'https://evil.example/',
  '//evil.example/x',
  String.raw`/\evil.example`,
  '/\t/evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  `blob:${ORIGIN}/x`,
  `${ORIGIN}@evil.example/`,
  `${ORIGIN.replace('://', '://evil.example@')}/`,
  `${ORIGIN.replace('https', 'http')}/`,
  `${ORIGIN}:8443/`,
  `${ORIGIN}.evil.example/`,
  'https://',
];

/** Makes the rejected requests, which store no payment. */
let customer: Customer;
beforeAll(async () => {
  customer = await signUp();
});

test.for(FOREIGN_URLS.flatMap((url) => ['success_url', 'cancel_url'].map((field) => [field, url] as const)))(
  'init-payment rejects the %s %j',
  async ([field, url]) => {
    const { status, body } = await customer.asSession('POST', '/api/init-payment', {
      plan: 'pro',
      [field]: url,
    });
    expect([status, body.error?.details?.[0]?.path]).toEqual([400, field]);
    expect((await billingRowsOf(customer.accountId)).payments).toEqual([]);
  },
);

test('a checkout redirects to an allowed origin of the account and to no similar origin', async () => {
  const ada = await signUp();
  const allowed = await ada.asSession('PATCH', '/api/account', { allowed_origins: ['https://shop.example'] });
  expect(allowed.status).toBe(200);
  const { checkout_url } = await begin(ada, { success_url: 'https://shop.example/thanks?id=1' });
  expect((await press(checkout_url, 'paid')).location).toBe('https://shop.example/thanks?id=1');
  const similar = { plan: 'scale', success_url: 'https://shop.example.evil.example/' };
  expect((await ada.asSession('POST', '/api/init-payment', similar)).status).toBe(400);
  // Another account allows no origins.
  const grace = await signUp();
  const sameUrl = { plan: 'pro', success_url: 'https://shop.example/' };
  expect((await grace.asSession('POST', '/api/init-payment', sameUrl)).status).toBe(400);
});

test.for([
  'null',
  'javascript:',
  'shop.example',
  'https://shop.example/',
  'https://shop.example/path',
  'https://a@shop.example',
  '*',
  'https://SHOP.example',
])('an account cannot allow the origin %j', async (origin) => {
  const answer = await customer.asSession('PATCH', '/api/account', { allowed_origins: [origin] });
  expect(answer.status).toBe(400);
});

test.for([
  {},
  { plan: 'free' },
  { plan: 'gold' },
  { plan: 'constructor' },
  { plan: ['pro'] },
  { plan: 'pro', amount: 1 },
  { plan: 'pro', currency: 'jpy' },
  { plan: 'pro', payment_id: 'pay_mine' },
  { plan: 'pro', success_url: 7 },
])('init-payment rejects %j', async (sent) => {
  const { status, body } = await customer.asSession('POST', '/api/init-payment', sent);
  expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  expect((await billingRowsOf(customer.accountId)).payments).toEqual([]);
});

test.for([
  ['POST', '/api/init-payment'],
  ['POST', '/api/cancel-subscription'],
  ['GET', '/api/billing'],
] as const)('%s %s requires authentication', async ([method, path]) => {
  expect((await call(method, path)).body.error.code).toBe('api_key_required');
});

test('billing shows the plans and only the account’s own subscription and payments', async () => {
  const [ada, grace] = [await signUp(), await signUp()];
  await subscribe(ada);
  expect((await grace.asSession('GET', '/api/billing')).body).toEqual({
    plan: 'free',
    subscription: null,
    payments: [],
    plans: [
      {
        plan: 'free',
        api_limit: 1_000,
        license_limit: 10_000,
        storage_limit: 100_000_000,
        calls_per_second: 10,
        amount: 0,
        currency: 'usd',
      },
      {
        plan: 'pro',
        api_limit: 100_000,
        license_limit: 200_000,
        storage_limit: 1_000_000_000,
        calls_per_second: 100,
        amount: 29_00,
        currency: 'usd',
      },
      {
        plan: 'scale',
        api_limit: 5_000_000,
        license_limit: 5_000_000,
        storage_limit: 8_000_000_000,
        calls_per_second: 1_000,
        amount: 199_00,
        currency: 'usd',
      },
    ],
  });
  expect((await grace.asSession('POST', '/api/cancel-subscription')).status).toBe(409);
});

const UNPAID = { subscriptions: [], payments: [{ status: 'pending' }] };

/** An account with a pending payment, and the signed notification that would mark it as paid. */
const beginWithNotification = async () => {
  const ada = await signUp();
  const { payment_id: paymentId } = await begin(ada);
  const { body, headers } = sandboxNotification(env, { id: paymentId, accountId: ada.accountId }, 'paid');
  return { ada, paymentId, body, signature: headers.get('sandbox-signature') ?? '' };
};

type Pending = Awaited<ReturnType<typeof beginWithNotification>>;

describe('a sandbox notification', () => {
  let pending: Pending;
  beforeAll(async () => {
    pending = await beginWithNotification();
  });

  const signed = (signature: string) => ({ 'sandbox-signature': signature });

  test.for([
    { name: 'without a signature', forge: ({ body }: Pending) => ({ body }) },
    {
      name: 'with a wrong signature',
      forge: ({ body, signature }: Pending) => ({ body, headers: signed(`${signature.slice(0, -2)}xx`) }),
    },
    {
      name: 'with a changed body',
      forge: ({ body, signature }: Pending) => ({ body: `${body} `, headers: signed(signature) }),
    },
    { name: 'without a body', forge: () => ({ body: '' }) },
  ])('$name is rejected and changes nothing', async ({ forge }) => {
    const answer = await call('POST', '/api/billing/sandbox', forge(pending));
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(await billingRowsOf(pending.ada.accountId)).toMatchObject(UNPAID);
  });

  test('with a valid signature marks the payment as paid', async () => {
    const { ada, body, signature } = await beginWithNotification();
    const answer = await call('POST', '/api/billing/sandbox', { body, headers: signed(signature) });
    expect(answer.body).toEqual({ received: true });
    expect((await billingRowsOf(ada.accountId)).payments).toMatchObject([{ status: 'paid' }]);
  });
});

describe('the checkout page', () => {
  const open = (ip: string, paymentId: string) =>
    call('GET', `/checkout/${paymentId}`, { headers: { 'cf-connecting-ip': ip } });

  test('refuses a malformed payment id without a query', async () => {
    const { result, statements } = await recordStatements(() => open(freshAddress(), 'pay_1'));
    expect([result.status, result.body.error.code, statements]).toEqual([404, 'not_found', []]);
  });

  test('can be opened 40 times at once and 20 times per second from an IP address', async () => {
    useFakeClock();
    const [ip, id] = [freshAddress(), newId('pay')];
    const statuses = async (times: number) =>
      (await Promise.all(Array.from({ length: times }, () => open(ip, id)))).map(({ status }) => status);
    expect(await statuses(40)).toEqual(Array(40).fill(404));
    const { result, statements } = await recordStatements(() => open(ip, id));
    expect([result.body.error.code, result.headers.get('retry-after')]).toEqual(['rate_limit_exceeded', '1']);
    expect(statements).toEqual([]);
    expect((await open(freshAddress(), id)).status).toBe(404);
    vi.advanceTimersByTime(1_000);
    expect(await statuses(21)).toEqual([...Array<number>(20).fill(404), 429]);
  });
});

describe('unless PAYMENTS_SANDBOX_ANYWHERE is set, the sandbox', () => {
  const localOnly: Env = { ...env, PAYMENTS_SANDBOX_ANYWHERE: 'false' };
  let pending: Pending;
  beforeAll(async () => {
    pending = await beginWithNotification();
  });

  const initPayment = (origin: string) =>
    new Request(`${origin}/api/init-payment`, {
      method: 'POST',
      body: '{"plan":"pro"}',
      headers: { 'x-api-key': pending.ada.apiKey, 'content-type': 'application/json' },
    });

  test.for([ORIGIN, 'https://localhost.evil.example', 'https://127.0.0.1.evil.example'])(
    'accepts no payment at %s',
    async (origin) => {
      const { ada, paymentId, body, signature } = pending;
      expect(await callIn(localOnly, initPayment(origin))).toMatchObject({
        status: 503,
        body: { error: { code: 'unavailable' } },
      });
      const headers = { 'sandbox-signature': signature };
      const notification = new Request(`${origin}/api/billing/sandbox`, { method: 'POST', body, headers });
      expect((await callIn(localOnly, notification)).status).toBe(404);
      const form = new URLSearchParams({ outcome: 'paid' });
      const page = new Request(`${origin}/checkout/${paymentId}`, { method: 'POST', body: form });
      expect((await callIn(localOnly, page)).status).toBe(404);
      expect(await billingRowsOf(ada.accountId)).toMatchObject(UNPAID);
    },
  );

  test('accepts payments at localhost, but only while PAYMENTS is sandbox', async () => {
    const local = 'http://localhost:8787';
    expect((await callIn(localOnly, initPayment(local))).status).toBe(201);
    expect((await callIn({ ...localOnly, PAYMENTS: 'none' }, initPayment(local))).status).toBe(404);
  });
});
