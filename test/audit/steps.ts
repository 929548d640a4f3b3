import { env } from 'cloudflare:workers';
import { sandboxNotification } from '../../src/billing/provider/sandbox.ts';
import { notify, paid, SECRET } from '../stores/shop.ts';
import { call } from '../support/client.ts';
import { verifyAddress } from '../support/sign-in.ts';
import { OPERATORS } from './operator-steps.ts';
import { PEOPLE } from './people-steps.ts';
import { PORTAL } from './portal-steps.ts';
import { PRIVATE, type Send, type Step } from './world.ts';

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
  // What a store reports is in its purchases, and the changes of licenses that follow leave entries of their own.
  'POST /hooks/:store_id',
  'POST /hooks/:store_id/:token',
  // What is changed on the provider's page is heard as its notification.
  'POST /api/billing-portal',
  // It shows what would be sent.
  'POST /api/v1/products/:code/mail/preview',
  // These send an email. The link in it makes the change.
  'POST /api/forgot-password',
  'POST /api/resend-verification',
  'POST /portal-api/:slug/sign-in',
  // What a customer does on the store's page is heard as its notification.
  'POST /portal-api/:slug/licenses/:id/store-link',
  // Nothing changes until the setup is confirmed.
  'POST /api/two-factor',
  // The account’s log can't be written while it moves, so these have a test of their own: test/databases/move.test.ts.
  'POST /operator/accounts/:id/database',
  'DELETE /operator/accounts/:id/database',
  // These need a bucket, which only test/backups has.
  'POST /operator/backups',
  'POST /operator/backups/:id/continue',
  'POST /operator/backups/:id/restore',
];

const releaseActivation: Send = async ({ ada, ids }) => {
  const path = `/api/v1/licenses/${ids['licenses']}/activations`;
  const { body } = await ada.asSession('GET', path);
  return ada.asSession('DELETE', `${path}/${body.data[0].id}?force=true`);
};

const LICENSES: Step[] = [
  {
    route: 'POST /api/v1/licenses/import',
    leaves: 'license.import',
    send: ({ ada }) =>
      ada.asSession('POST', '/api/v1/licenses/import', `{"customer_email":"${PRIVATE.customer}"}`, {
        'content-type': 'application/x-ndjson',
      }),
  },
  {
    route: 'PUT /api/v1/products/:code',
    leaves: 'product.put',
    body: { terms: { max_activations: 2 } },
  },
  {
    route: 'POST /api/v1/licenses/create',
    leaves: 'license.create',
    creates: 'licenses',
    send: ({ ada }) =>
      ada.asKey('POST', '/api/v1/licenses/create', {
        product: 'orrery',
        customer_email: PRIVATE.customer,
        customer_name: PRIVATE.customerName,
      }),
  },
  {
    route: 'PATCH /api/v1/licenses/:id',
    leaves: 'license.update',
    body: { metadata: { note: PRIVATE.note } },
  },
  { route: 'POST /api/v1/licenses/:id/suspend', leaves: 'license.suspend' },
  { route: 'POST /api/v1/licenses/:id/reinstate', leaves: 'license.reinstate' },
  { route: 'POST /api/v1/licenses/:id/renew', leaves: 'license.renew', body: { duration_days: 30 } },
  {
    route: 'POST /api/v1/licenses/:id/token',
    leaves: 'offline_file.issue',
    body: { fingerprint: PRIVATE.fingerprint },
  },
  {
    route: 'DELETE /api/v1/licenses/:id/activations/:activation_id',
    leaves: 'activation.release',
    send: releaseActivation,
  },
  ...PORTAL,
  { route: 'POST /api/v1/licenses/:id/rotate-key', leaves: 'license.rotate_key' },
  { route: 'POST /api/v1/licenses/:id/revoke', leaves: 'license.revoke' },
  {
    route: 'POST /api/erase-customer',
    leaves: 'customer.erase',
    body: { customer_email: PRIVATE.customer },
  },
  { route: 'DELETE /api/v1/licenses/:id', leaves: 'license.delete' },
  { route: 'DELETE /api/v1/products/:code', leaves: 'product.delete' },
];

const WEBHOOKS: Step[] = [
  {
    route: 'POST /api/webhooks',
    leaves: 'webhook.create',
    body: ({ url }) => ({ url }),
    creates: 'webhooks',
  },
  { route: 'GET /api/webhooks/:id', leaves: 'webhook.reveal' },
  { route: 'PATCH /api/webhooks/:id', leaves: 'webhook.update', body: { description: 'Shop' } },
  { route: 'POST /api/webhooks/:id/rotate-secret', leaves: 'webhook.rotate_secret' },
  { route: 'POST /api/webhooks/:id/test', leaves: 'webhook.test', creates: 'deliveries' },
  { route: 'POST /api/webhooks/:id/deliveries/:delivery_id/resend', leaves: 'webhook.resend' },
  {
    route: 'POST /api/webhooks/:id/replay',
    leaves: 'webhook.replay',
    body: { since: '2027-03-10T12:00:00Z' },
  },
  { route: 'DELETE /api/webhooks/:id', leaves: 'webhook.delete' },
];

/** A purchase of something that no offer is for, and then is. */
const buy: Send = async (world) => {
  await notify(world.ids['stores'] ?? '', paid('1', { email: PRIVATE.customer, name: PRIVATE.customerName }));
  const { body } = await world.ada.asSession('GET', '/api/purchases');
  world.ids['purchases'] = body.data[0].id;
  return world.ada.asSession('POST', `/api/purchases/${body.data[0].id}/retry`);
};

/** The email to buyers goes to a verified address only. */
const testMail: Send = async ({ ada, ids }) => {
  await verifyAddress(ada.accountId);
  return ada.asSession('POST', `/api/v1/products/${ids['products']}/mail/test`, {});
};

const STORES: Step[] = [
  { route: 'PUT /api/v1/products/:code', leaves: 'product.put', body: {} },
  {
    route: 'POST /api/stores',
    leaves: 'store.create',
    body: { provider: 'generic', name: 'Shop', secret: SECRET },
    creates: 'stores',
  },
  { route: 'PATCH /api/stores/:id', leaves: 'store.update', body: { name: 'The shop' } },
  { route: 'POST /api/purchases/:id/retry', leaves: 'purchase.retry', send: buy },
  {
    route: 'PUT /api/stores/:id/offers/:ref',
    leaves: 'offer.put',
    send: ({ ada, ids }) =>
      ada.asSession('PUT', `/api/stores/${ids['stores']}/offers/other`, {
        product: 'orrery',
        grant: 'perpetual',
      }),
  },
  {
    route: 'DELETE /api/stores/:id/offers/:ref',
    leaves: 'offer.delete',
    send: ({ ada, ids }) => ada.asSession('DELETE', `/api/stores/${ids['stores']}/offers/other`),
  },
  {
    route: 'POST /api/purchases/:id/assign',
    leaves: 'purchase.assign',
    alsoLeaves: ['license.create'],
    body: { product: 'orrery' },
  },
  { route: 'POST /api/purchases/:id/resend-mail', leaves: 'purchase.resend_mail' },
  {
    route: 'PATCH /api/v1/products/:code/mail',
    leaves: 'product.update_mail',
    body: { intro: 'Open it.' },
  },
  { route: 'POST /api/v1/products/:code/mail/test', leaves: 'product.test_mail', send: testMail },
  { route: 'DELETE /api/stores/:id', leaves: 'store.delete' },
];

const paySandbox: Send = ({ ada, answers }) => {
  const payment = { id: answers['POST /api/init-payment'].payment_id, accountId: ada.accountId };
  const { body, headers } = sandboxNotification(env, payment, 'paid');
  return call('POST', '/api/billing/sandbox', { body, headers: Object.fromEntries(headers) });
};

const BILLING: Step[] = [
  { route: 'POST /api/init-payment', leaves: 'checkout.start', body: { plan: 'pro' } },
  { route: 'POST /api/billing/sandbox', leaves: 'plan.change', send: paySandbox },
  { route: 'POST /api/cancel-subscription', leaves: 'subscription.cancel', body: { at: 'period_end' } },
  { route: 'POST /api/resume-subscription', leaves: 'subscription.resume' },
  { route: 'POST /api/cancel-subscription', leaves: 'subscription.cancel', body: { at: 'now' } },
];

const eraseAccount: Send = ({ ada }) =>
  ada.asKey('DELETE', '/api/account', { current_password: PRIVATE.newPassword, confirm: ada.email });

/** A call to each endpoint that changes an account or reveals a secret, in an order in which each of them succeeds. */
export const STEPS: Step[] = [
  ...PEOPLE,
  ...LICENSES,
  ...WEBHOOKS,
  ...STORES,
  ...BILLING,
  ...OPERATORS,
  { route: 'POST /api/home-region', leaves: 'account.move', body: { region: 'weur' } },
  { route: 'POST /api/logout', leaves: 'logout' },
  {
    // The subscription was canceled, and is over by now.
    route: 'DELETE /api/account',
    leaves: 'subscription.end',
    alsoLeaves: ['account.erase'],
    send: eraseAccount,
  },
];
