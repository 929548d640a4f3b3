import { env, exports } from 'cloudflare:workers';
import { sandboxNotification } from '../../src/billing/sandbox.ts';
import { call, freshAddress, ORIGIN, textOf } from '../support/client.ts';
import { asOperator, OPERATOR_TOKEN } from '../support/operator.ts';
import { ACCOUNT } from './people-steps.ts';
import { PRIVATE, type Send, session, type Step, type World } from './world.ts';

// A call to each endpoint that changes an account or reveals a secret, in an order in which each of them succeeds.

/** Routes that leave no entry although their method isn't GET. */
export const EXCEPTIONS = [
  // The calls of applications, which may come thousands of times a second. The seat history has what they change.
  'POST /api/v1/licenses/verify',
  'POST /api/v1/licenses/activate',
  'POST /api/v1/licenses/heartbeat',
  'POST /api/v1/licenses/deactivate',
  // These do the same as the sandbox's notification.
  'POST /api/billing/stripe',
  'POST /checkout/:payment_id',
  // These send an email. The link in it makes the change.
  'POST /api/forgot-password',
  'POST /api/resend-verification',
  // Nothing changes until the setup is confirmed.
  'POST /api/two-factor',
];

const license =
  (action = '') =>
  ({ answers }: World) =>
    `/api/v1/licenses/${answers['POST /api/v1/licenses/create'].id}${action}`;

const webhook =
  (action = '') =>
  ({ answers }: World) =>
    `/api/webhooks/${answers['POST /api/webhooks'].id}${action}`;

const releaseActivation: Send = async (world) => {
  const { ada } = world;
  const path = license('/activations')(world);
  const { body } = await ada.asSession('GET', path);
  return ada.asSession('DELETE', `${path}/${body.data[0].id}?force=true`);
};

const paySandbox: Send = ({ ada, answers }) => {
  const payment = { id: answers['POST /api/init-payment'].payment_id, accountId: ada.accountId };
  const { body, headers } = sandboxNotification(env, payment, 'paid');
  return call('POST', '/api/billing/sandbox', { body, headers: Object.fromEntries(headers) });
};

const operator =
  (action: string, body?: unknown): Send =>
  ({ ada }) =>
    asOperator('POST', `/operator/accounts/${ada.accountId}/${action}`, body);

const LICENSES: Step[] = [
  [
    'POST /api/v1/licenses/import',
    'license.import',
    ({ ada }) =>
      ada.asSession('POST', '/api/v1/licenses/import', `{"customer_email":"${PRIVATE.customer}"}`, {
        'content-type': 'application/x-ndjson',
      }),
  ],
  [
    'PUT /api/v1/products/:code',
    'product.put',
    session('PUT', '/api/v1/products/orrery', { terms: { max_activations: 2 } }),
  ],
  [
    'POST /api/v1/licenses/create',
    'license.create',
    ({ ada }) =>
      ada.asKey('POST', '/api/v1/licenses/create', {
        product: 'orrery',
        customer_email: PRIVATE.customer,
        customer_name: PRIVATE.customerName,
      }),
  ],
  [
    'PATCH /api/v1/licenses/:id',
    'license.update',
    session('PATCH', license(), { metadata: { note: PRIVATE.note } }),
  ],
  ['POST /api/v1/licenses/:id/suspend', 'license.suspend', session('POST', license('/suspend'))],
  ['POST /api/v1/licenses/:id/reinstate', 'license.reinstate', session('POST', license('/reinstate'))],
  [
    'POST /api/v1/licenses/:id/renew',
    'license.renew',
    session('POST', license('/renew'), { duration_days: 30 }),
  ],
  [
    'POST /api/v1/licenses/:id/token',
    'offline_file.issue',
    session('POST', license('/token'), { fingerprint: PRIVATE.fingerprint }),
  ],
  ['DELETE /api/v1/licenses/:id/activations/:activation_id', 'activation.release', releaseActivation],
  ['POST /api/v1/licenses/:id/rotate-key', 'license.rotate_key', session('POST', license('/rotate-key'))],
  ['POST /api/v1/licenses/:id/revoke', 'license.revoke', session('POST', license('/revoke'))],
  [
    'POST /api/erase-customer',
    'customer.erase',
    session('POST', '/api/erase-customer', { customer_email: PRIVATE.customer }),
  ],
  ['DELETE /api/v1/licenses/:id', 'license.delete', session('DELETE', license())],
  ['DELETE /api/v1/products/:code', 'product.delete', session('DELETE', '/api/v1/products/orrery')],
];

const WEBHOOKS: Step[] = [
  ['POST /api/webhooks', 'webhook.create', ({ ada, url }) => ada.asSession('POST', '/api/webhooks', { url })],
  ['GET /api/webhooks/:id', 'webhook.reveal', session('GET', webhook())],
  ['PATCH /api/webhooks/:id', 'webhook.update', session('PATCH', webhook(), { description: 'Shop' })],
  [
    'POST /api/webhooks/:id/rotate-secret',
    'webhook.rotate_secret',
    session('POST', webhook('/rotate-secret')),
  ],
  ['POST /api/webhooks/:id/test', 'webhook.test', session('POST', webhook('/test'))],
  [
    'POST /api/webhooks/:id/deliveries/:delivery_id/resend',
    'webhook.resend',
    (world) => {
      const delivery: string = world.answers['POST /api/webhooks/:id/test'].id;
      return world.ada.asSession('POST', webhook(`/deliveries/${delivery}/resend`)(world));
    },
  ],
  ['DELETE /api/webhooks/:id', 'webhook.delete', session('DELETE', webhook())],
];

const BILLING: Step[] = [
  ['POST /api/init-payment', 'checkout.start', session('POST', '/api/init-payment', { plan: 'pro' })],
  ['POST /api/billing/sandbox', 'plan.change', paySandbox],
  [
    'POST /api/cancel-subscription',
    'subscription.cancel',
    session('POST', '/api/cancel-subscription', { at: 'now' }),
  ],
];

/** Lines, and not JSON as `asOperator` expects them. */
const sendBackup = async (method: string, { ada }: World, body?: string): Promise<Response> =>
  exports.default.fetch(`${ORIGIN}/operator/backup/${ada.accountId}?replace=true`, {
    method,
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'cf-connecting-ip': freshAddress() },
    ...(body !== undefined && { body }),
  });

const backUp: Send = async (world) => {
  const { status, headers, ...response } = await sendBackup('GET', world).then(async (answer) => ({
    status: answer.status,
    headers: answer.headers,
    lines: await textOf(answer),
  }));
  return { status, headers, body: response };
};

const restore: Send = async (world) => {
  const { lines } = world.answers['GET /operator/backup/:id'] as { lines: string };
  const { status, headers } = await sendBackup('POST', world, lines);
  return { status, headers, body: {} };
};

const OPERATORS: Step[] = [
  ['POST /operator/reseal', 'secrets.reseal', () => asOperator('POST', '/operator/reseal', {})],
  ['GET /operator/backup/:id', 'account.backup', backUp],
  ['POST /operator/backup/:id', 'account.recover', restore],
  ['POST /operator/accounts/:id/plan', 'plan.grant', operator('plan', { plan: 'scale' })],
  ['POST /operator/accounts/:id/suspend', 'account.suspend', operator('suspend')],
  ['POST /operator/accounts/:id/reinstate', 'account.reinstate', operator('reinstate')],
];

const eraseAccount: Send = ({ ada }) =>
  ada.asKey('DELETE', '/api/account', { current_password: PRIVATE.newPassword, confirm: ada.email });

export const STEPS: Step[] = [
  ...ACCOUNT,
  ...LICENSES,
  ...WEBHOOKS,
  ...BILLING,
  ...OPERATORS,
  ['POST /api/home-region', 'account.move', session('POST', '/api/home-region', { region: 'weur' })],
  ['POST /api/logout', 'logout', session('POST', '/api/logout')],
  ['DELETE /api/account', 'account.erase', eraseAccount],
];
