// A new endpoint that changes something must be called here, where the test sees that it leaves an entry, or be an exception.
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { sandboxNotification } from '../../src/billing/sandbox.ts';
import { storedEntries } from '../support/audit.ts';
import { type Answer, call, type Json, signUp } from '../support/client.ts';
import { newReceiver } from '../support/receiver.ts';
import { callRoute, expectAbsent, nameOf, routes, routesWithId, SERVICE_SECRETS } from '../http/security.ts';

/** Endpoints that leave no entry although their method isn't GET. */
const EXCEPTIONS = [
  // The calls of applications, which may come thousands of times a second. The gate records them in the seat history.
  'POST /api/v1/licenses/verify',
  'POST /api/v1/licenses/activate',
  'POST /api/v1/licenses/heartbeat',
  'POST /api/v1/licenses/deactivate',
  // Does the same as the sandbox's notification.
  'POST /api/billing/stripe',
];

/** Endpoints that reveal a secret. */
const REVEALS = ['GET /api/api-keys/:id', 'GET /api/webhooks/:id'];

type Step = [route: string, action: string, send: () => Promise<Answer>];

const PASSWORD = 'correct horse battery staple';

test('every change of an account and every revealed secret leaves one entry, without secrets', async () => {
  const ada = await signUp();
  const { url } = await newReceiver();
  const known: Record<string, Json> = {};
  const keep = (name: string, answer: Answer) => {
    known[name] = answer.body;
    return answer;
  };
  const send = (method: string, path: string, body?: unknown) => ada.asSession(method, path, body);
  const change = (path: string, body: unknown = {}) => send('POST', `/api/v1/licenses/${path}`, body);
  const licenseId = () => known['license'].id as string;
  const hook = () => `/api/webhooks/${known['webhook'].id as string}`;

  const steps: Step[] = [
    [
      'POST /api/register',
      'register',
      async () =>
        keep(
          'bob',
          await call('POST', '/api/register', { body: { email: 'bob@example.com', password: PASSWORD } }),
        ),
    ],
    ['POST /api/login', 'login', async () => keep('login', await call('POST', '/api/login', { body: ada }))],
    ['PATCH /api/account', 'account.update', () => send('PATCH', '/api/account', { name: 'Ada Lovelace' })],
    ['POST /api/home-region', 'account.move', () => send('POST', '/api/home-region', { region: 'weur' })],
    [
      'POST /api/create-api-key',
      'api_key.create',
      async () => keep('key', await send('POST', '/api/create-api-key', { name: 'Key of the shop' })),
    ],
    ['GET /api/api-keys/:id', 'api_key.reveal', () => send('GET', `/api/api-keys/${known['key'].id}`)],
    ['DELETE /api/api-keys/:id', 'api_key.delete', () => send('DELETE', `/api/api-keys/${known['key'].id}`)],
    [
      'PUT /api/v1/products/:code',
      'product.put',
      () => send('PUT', '/api/v1/products/orrery', { terms: { max_activations: 2 } }),
    ],
    [
      'POST /api/v1/licenses/create',
      'license.create',
      async () =>
        keep(
          'license',
          await ada.asKey('POST', '/api/v1/licenses/create', {
            product: 'orrery',
            customer_email: 'grace@example.com',
            customer_name: 'Grace Hopper',
          }),
        ),
    ],
    [
      'PATCH /api/v1/licenses/:id',
      'license.update',
      () => send('PATCH', `/api/v1/licenses/${licenseId()}`, { metadata: { note: 'customer-note' } }),
    ],
    ['POST /api/v1/licenses/:id/suspend', 'license.suspend', () => change(`${licenseId()}/suspend`)],
    ['POST /api/v1/licenses/:id/reinstate', 'license.reinstate', () => change(`${licenseId()}/reinstate`)],
    [
      'POST /api/v1/licenses/:id/renew',
      'license.renew',
      () => change(`${licenseId()}/renew`, { duration_days: 30 }),
    ],
    [
      'POST /api/v1/licenses/:id/token',
      'offline_file.issue',
      async () => keep('file', await change(`${licenseId()}/token`, { fingerprint: 'machine-0001' })),
    ],
    [
      'DELETE /api/v1/licenses/:id/activations/:activation_id',
      'activation.release',
      async () => {
        const { body } = await send('GET', `/api/v1/licenses/${licenseId()}/activations`);
        return send('DELETE', `/api/v1/licenses/${licenseId()}/activations/${body.data[0].id}?force=true`);
      },
    ],
    [
      'POST /api/v1/licenses/:id/rotate-key',
      'license.rotate_key',
      async () => keep('rotated', await change(`${licenseId()}/rotate-key`)),
    ],
    ['POST /api/v1/licenses/:id/revoke', 'license.revoke', () => change(`${licenseId()}/revoke`)],
    [
      'DELETE /api/v1/licenses/:id',
      'license.delete',
      () => send('DELETE', `/api/v1/licenses/${licenseId()}`),
    ],
    ['DELETE /api/v1/products/:code', 'product.delete', () => send('DELETE', '/api/v1/products/orrery')],
    [
      'POST /api/webhooks',
      'webhook.create',
      async () => keep('webhook', await send('POST', '/api/webhooks', { url })),
    ],
    ['GET /api/webhooks/:id', 'webhook.reveal', () => send('GET', hook())],
    ['PATCH /api/webhooks/:id', 'webhook.update', () => send('PATCH', hook(), { description: 'Shop' })],
    [
      'POST /api/webhooks/:id/rotate-secret',
      'webhook.rotate_secret',
      async () => keep('rotatedHook', await send('POST', `${hook()}/rotate-secret`)),
    ],
    [
      'POST /api/webhooks/:id/test',
      'webhook.test',
      async () => keep('delivery', await send('POST', `${hook()}/test`)),
    ],
    [
      'POST /api/webhooks/:id/deliveries/:delivery_id/resend',
      'webhook.resend',
      () => send('POST', `${hook()}/deliveries/${known['delivery'].id}/resend`),
    ],
    ['DELETE /api/webhooks/:id', 'webhook.delete', () => send('DELETE', hook())],
    [
      'POST /api/init-payment',
      'checkout.start',
      async () => keep('payment', await send('POST', '/api/init-payment', { plan: 'pro' })),
    ],
    [
      'POST /api/billing/sandbox',
      'plan.change',
      () => {
        const payment = { id: known['payment'].payment_id, accountId: ada.accountId };
        const { body, headers } = sandboxNotification(env, payment, 'paid');
        return call('POST', '/api/billing/sandbox', { body, headers: Object.fromEntries(headers) });
      },
    ],
    [
      'POST /api/cancel-subscription',
      'subscription.cancel',
      () => send('POST', '/api/cancel-subscription', { at: 'now' }),
    ],
    ['POST /api/logout', 'logout', () => send('POST', '/api/logout')],
  ];

  const changing = routes.filter(({ method }) => method !== 'GET').map(nameOf);
  const expected = [...changing.filter((name) => !EXCEPTIONS.includes(name)), ...REVEALS];
  expect(steps.map(([route]) => route).toSorted()).toEqual(expected.toSorted());

  let before = await storedEntries();
  for (const [route, action, sendStep] of steps) {
    const { status, body } = await sendStep();
    const after = await storedEntries();
    const added = after.slice(before.length);
    expect([route, status < 300 || body, added.map((entry) => entry.action)]).toEqual([
      route,
      true,
      [action],
    ]);
    before = after;
  }
  const secrets: string[] = [
    ...SERVICE_SECRETS,
    ada.apiKey,
    ada.token,
    ada.password,
    ada.email,
    known['bob'].session.token,
    known['login'].session.token,
    known['key'].api_key,
    known['file'].token,
    known['license'].license_key,
    known['rotated'].license_key,
    known['webhook'].secret,
    known['rotatedHook'].secret,
    PASSWORD,
    url,
    'bob@example.com',
    'grace@example.com',
    'Grace Hopper',
    'machine-0001',
    'customer-note',
  ];
  expectAbsent(JSON.stringify(before), secrets);
});

test('a refused call leaves no entry', async () => {
  const ada = await signUp();
  const license = await ada.createLicense();
  const before = await storedEntries();
  const refusals: [string, Answer][] = [];
  const headers = { authorization: `Bearer ${ada.token}` };
  for (const route of routesWithId) {
    // Every account may choose this product code.
    if (nameOf(route) !== 'PUT /api/v1/products/:code')
      refusals.push([nameOf(route), await callRoute(route, headers)]);
  }
  const license_key: string = license.license_key;
  for (const [path, body] of [
    ['/api/v1/licenses/create', { license_key }],
    [`/api/v1/licenses/${license.id}/rotate-key`, { license_key }],
    [`/api/v1/licenses/${license.id}/reinstate`, {}],
    ['/api/login', { email: ada.email, password: 'wrong horse battery' }],
    ['/api/register', { email: ada.email, password: PASSWORD }],
    ['/api/webhooks', { url: 'http://example.com' }],
    ['/api/cancel-subscription', {}],
  ] as const)
    refusals.push([path, await ada.asSession('POST', path, body)]);
  expect(refusals.filter(([, { status }]) => status < 400)).toEqual([]);
  expect(await storedEntries()).toEqual(before);
});
