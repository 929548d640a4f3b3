import { env, exports } from 'cloudflare:workers';
import { sandboxNotification } from '../../src/billing/sandbox.ts';
import type { AuditAction } from '../../src/shared/rules/audit.ts';
import { codeAt } from '../../src/two-factor/totp.ts';
import { type Answer, call, type Customer, freshAddress, type Json, ORIGIN } from '../support/client.ts';
import { lastMailTo } from '../support/mails.ts';
import { asOperator, OPERATOR_TOKEN } from '../support/operator.ts';

// A call to each endpoint that changes an account or reveals a secret, in an order in which each of them succeeds.

export interface World {
  ada: Customer;
  /** The latest body that each route has answered. */
  answers: Record<string, Json>;
  /** The URL of a webhook. */
  url: string;
  /** What must not be in any entry. */
  secrets: string[];
}

type Send = (world: World) => Promise<Answer>;

/** The route, the action of the entry that a call to it leaves, and the call. */
export type Step = [route: string, action: AuditAction, send: Send];

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

/** What must not be in an entry, besides what the service has answered. */
export const PRIVATE = {
  password: 'correct horse battery staple',
  newPassword: 'staple battery horse correct',
  bob: 'bob@example.com',
  newEmail: 'lovelace@example.com',
  customer: 'grace@example.com',
  customerName: 'Grace Hopper',
  note: 'note about the customer',
  fingerprint: 'machine-0001',
};

const session =
  (method: string, pathOf: string | ((world: World) => string), body?: unknown): Send =>
  (world) =>
    world.ada.asSession(method, typeof pathOf === 'string' ? pathOf : pathOf(world), body);

const license =
  (action = '') =>
  ({ answers }: World) =>
    `/api/v1/licenses/${answers['POST /api/v1/licenses/create'].id}${action}`;

const webhook =
  (action = '') =>
  ({ answers }: World) =>
    `/api/webhooks/${answers['POST /api/webhooks'].id}${action}`;

const apiKey = ({ answers }: World) => `/api/api-keys/${answers['POST /api/create-api-key'].id}`;

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

/** Sends the token of the last of `count` emails to bob. */
const withToken =
  (path: string, count: number, fields: Json = {}): Send =>
  async ({ secrets }) => {
    const { text } = await lastMailTo(PRIVATE.bob, count);
    const [token = ''] = /lkt_\w+/.exec(text) ?? [];
    secrets.push(token);
    return call('POST', path, { body: { token, ...fields } });
  };

const resetPassword: Send = async (world) => {
  await call('POST', '/api/forgot-password', { body: { email: PRIVATE.bob } });
  return withToken('/api/reset-password', 2, { password: PRIVATE.newPassword })(world);
};

const endOtherSession: Send = async ({ ada }) => {
  const { body } = await ada.asSession('GET', '/api/sessions');
  const other = body.data.find(({ current }: Json) => !current);
  return ada.asSession('DELETE', `/api/sessions/${other.id}`);
};

/** The code of the authenticator app, some steps from now. Each works once. */
const twoFactorCode = ({ answers }: World, steps: number) =>
  codeAt(answers.twoFactor.secret, Date.now() + steps * 30_000);

const confirmTwoFactor: Send = async (world) => {
  world.answers.twoFactor = (await world.ada.asSession('POST', '/api/two-factor')).body;
  world.secrets.push(world.answers.twoFactor.secret);
  return world.ada.asSession('POST', '/api/two-factor/confirm', { code: twoFactorCode(world, -1) });
};

const loginWithTwoFactor: Send = async (world) => {
  const credentials = { email: world.ada.email, password: PRIVATE.newPassword };
  const { body } = await call('POST', '/api/login', { body: credentials });
  const challenge: string = body.error.details[0].message;
  world.secrets.push(challenge);
  return call('POST', '/api/login/two-factor', { body: { challenge, code: twoFactorCode(world, 0) } });
};

const disableTwoFactor: Send = (world) =>
  world.ada.asSession('DELETE', '/api/two-factor', {
    current_password: PRIVATE.newPassword,
    code: twoFactorCode(world, 1),
  });

const ACCOUNT: Step[] = [
  [
    'POST /api/register',
    'register',
    () => call('POST', '/api/register', { body: { email: PRIVATE.bob, password: PRIVATE.password } }),
  ],
  ['POST /api/login', 'login', ({ ada }) => call('POST', '/api/login', { body: ada })],
  ['POST /api/verify-email', 'email.verify', withToken('/api/verify-email', 1)],
  ['POST /api/reset-password', 'password.reset', resetPassword],
  ['DELETE /api/sessions/:id', 'session.end', endOtherSession],
  ['DELETE /api/sessions', 'session.end', session('DELETE', '/api/sessions')],
  [
    'POST /api/change-password',
    'password.change',
    ({ ada }) =>
      ada.asSession('POST', '/api/change-password', {
        current_password: ada.password,
        password: PRIVATE.newPassword,
      }),
  ],
  [
    'POST /api/change-email',
    'email.request_change',
    session('POST', '/api/change-email', {
      email: PRIVATE.newEmail,
      current_password: PRIVATE.newPassword,
    }),
  ],
  ['POST /api/two-factor/confirm', 'two_factor.enable', confirmTwoFactor],
  ['POST /api/login/two-factor', 'login', loginWithTwoFactor],
  ['DELETE /api/two-factor', 'two_factor.disable', disableTwoFactor],
  ['PATCH /api/account', 'account.update', session('PATCH', '/api/account', { name: 'Ada Lovelace' })],
  ['POST /api/create-api-key', 'api_key.create', session('POST', '/api/create-api-key', { name: 'Shop' })],
  ['GET /api/api-keys/:id', 'api_key.reveal', session('GET', apiKey)],
  [
    'POST /api/api-keys/:id/rotate',
    'api_key.rotate',
    (world) => world.ada.asSession('POST', `${apiKey(world)}/rotate`),
  ],
  ['DELETE /api/api-keys/:id', 'api_key.delete', session('DELETE', apiKey)],
];

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
    lines: await answer.text(),
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
