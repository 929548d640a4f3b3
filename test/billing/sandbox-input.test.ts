import { env } from 'cloudflare:workers';
import { beforeAll, expect, test } from 'vitest';
import { sandboxNotification } from '../../src/billing/sandbox.ts';
import { call, type Customer, ORIGIN, signUp } from '../support/client.ts';
import { callIn } from '../support/stripe.ts';
import { begin, booksOf, press, subscribe } from './sandbox.ts';

const ELSEWHERE = [
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

/** Who is refused, again and again; no payment of theirs is ever stored. */
let refused: Customer;
beforeAll(async () => {
  refused = await signUp();
});

test.each(ELSEWHERE)('a checkout never leads to %j', async (url) => {
  for (const field of ['success_url', 'cancel_url']) {
    const sent = { plan: 'pro', [field]: url };
    const { status, body } = await refused.asSession('POST', '/api/init-payment', sent);
    expect([status, body.error?.details?.[0]?.path]).toEqual([400, field]);
  }
  expect((await booksOf(refused.accountId)).payments).toEqual([]);
});

test('a checkout leads to an origin that the account has named, and to no other of its kind', async () => {
  const ada = await signUp();
  const allowed = await ada.asSession('PATCH', '/api/account', { allowed_origins: ['https://shop.example'] });
  expect(allowed.status).toBe(200);
  const { checkout_url } = await begin(ada, { success_url: 'https://shop.example/thanks?id=1' });
  expect((await press(checkout_url, 'paid')).location).toBe('https://shop.example/thanks?id=1');
  const other = { plan: 'scale', success_url: 'https://shop.example.evil.example/' };
  expect((await ada.asSession('POST', '/api/init-payment', other)).status).toBe(400);
  // Another account has named nothing.
  const grace = await signUp();
  const hers = { plan: 'pro', success_url: 'https://shop.example/' };
  expect((await grace.asSession('POST', '/api/init-payment', hers)).status).toBe(400);
});

test.each([
  'null',
  'javascript:',
  'shop.example',
  'https://shop.example/',
  'https://shop.example/path',
  'https://a@shop.example',
  '*',
  'https://SHOP.example',
])('%j is no origin that an account can name', async (origin) => {
  const answer = await refused.asSession('PATCH', '/api/account', { allowed_origins: [origin] });
  expect(answer.status).toBe(400);
});

test.each([
  {},
  { plan: 'free' },
  { plan: 'gold' },
  { plan: 'constructor' },
  { plan: ['pro'] },
  { plan: 'pro', amount: 1 },
  { plan: 'pro', currency: 'jpy' },
  { plan: 'pro', payment_id: 'pay_mine' },
  { plan: 'pro', success_url: 7 },
])('init-payment refuses %j', async (sent) => {
  const { status, body } = await refused.asSession('POST', '/api/init-payment', sent);
  expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  expect((await booksOf(refused.accountId)).payments).toEqual([]);
});

test('billing is for those who are known, and an account sees its own alone, with what there is to choose', async () => {
  for (const [method, path] of [
    ['POST', '/api/init-payment'],
    ['POST', '/api/cancel-subscription'],
    ['GET', '/api/billing'],
  ] as const) {
    expect((await call(method, path)).body.error.code).toBe('api_key_required');
  }
  const [ada, grace] = [await signUp(), await signUp()];
  await subscribe(ada);
  expect((await grace.asSession('GET', '/api/billing')).body).toEqual({
    plan: 'free',
    subscription: null,
    payments: [],
    plans: [
      { plan: 'free', api_limit: 1_000, calls_per_second: 10, amount: 0, currency: 'usd' },
      { plan: 'pro', api_limit: 100_000, calls_per_second: 100, amount: 29_00, currency: 'usd' },
      { plan: 'scale', api_limit: 5_000_000, calls_per_second: 1_000, amount: 199_00, currency: 'usd' },
    ],
  });
  expect((await grace.asSession('POST', '/api/cancel-subscription')).status).toBe(409);
});

test('a sandbox notification that is not signed by this service is refused and leaves nothing behind', async () => {
  const ada = await signUp();
  const { payment_id } = await begin(ada);
  const { body, headers } = sandboxNotification(env, payment_id, 'paid');
  const signature = headers.get('sandbox-signature') ?? '';
  const forged: [string, Record<string, string>][] = [
    [body, {}],
    [body, { 'sandbox-signature': `${signature.slice(0, -2)}xx` }],
    [`${body} `, { 'sandbox-signature': signature }],
    ['', {}],
  ];
  for (const [sent, named] of forged) {
    const answer = await call('POST', '/api/billing/sandbox', { body: sent, headers: named });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  }
  expect(await booksOf(ada.accountId)).toMatchObject({
    subscriptions: [],
    payments: [{ status: 'pending' }],
  });
  const signed = { body, headers: { 'sandbox-signature': signature } };
  expect((await call('POST', '/api/billing/sandbox', signed)).body).toEqual({ received: true });
  expect((await booksOf(ada.accountId)).payments).toMatchObject([{ status: 'paid' }]);
});

test('beyond this machine the sandbox gives nothing away unless it is told to', async () => {
  const ada = await signUp();
  const { payment_id } = await begin(ada);
  const { body, headers } = sandboxNotification(env, payment_id, 'paid');
  const careful: Env = { ...env, PAYMENTS_SANDBOX_ANYWHERE: 'false' };
  const init = (origin: string) =>
    new Request(`${origin}/api/init-payment`, {
      method: 'POST',
      body: '{"plan":"pro"}',
      headers: { 'x-api-key': ada.apiKey, 'content-type': 'application/json' },
    });
  for (const origin of [ORIGIN, 'http://localhost.evil.example', 'http://127.0.0.1.evil.example']) {
    expect(await callIn(careful, init(origin))).toMatchObject({
      status: 503,
      body: { error: { code: 'unavailable' } },
    });
    const notification = new Request(`${origin}/api/billing/sandbox`, { method: 'POST', body, headers });
    expect((await callIn(careful, notification)).status).toBe(404);
    const pressed = new URLSearchParams({ outcome: 'paid' });
    const page = new Request(`${origin}/checkout/${payment_id}`, { method: 'POST', body: pressed });
    expect((await callIn(careful, page)).status).toBe(404);
  }
  expect(await booksOf(ada.accountId)).toMatchObject({
    subscriptions: [],
    payments: [{ status: 'pending' }],
  });
  expect((await callIn(careful, init('http://localhost:8787'))).status).toBe(201);
  expect((await callIn({ ...careful, PAYMENTS: 'none' }, init('http://localhost:8787'))).status).toBe(503);
});
