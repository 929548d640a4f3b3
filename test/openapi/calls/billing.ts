import { env } from 'cloudflare:workers';
import { sandboxNotification } from '../../../src/billing/provider/sandbox.ts';
import { subscribe } from '../../billing/sandbox.ts';
import type { Area } from '../area.ts';

/** For an account that has started a checkout. */
export const BILLING: Area = {
  setUp: async ({ accountId, asSession }) => {
    await asSession('PATCH', '/api/account', { allowed_origins: ['https://shop.example.com'] });
    const { body } = await asSession('POST', '/api/init-payment', { plan: 'pro' });
    const paid = sandboxNotification(env, { id: body.payment_id, accountId }, 'paid');
    return { notification: paid.body, signature: paid.headers.get('sandbox-signature') ?? '' };
  },
  calls: {
    'GET /api/billing': [
      { when: 'no payment was made', answers: '200 ok' },
      { as: 'key', when: 'called with an API key', answers: '200 ok' },
    ],
    'POST /api/init-payment': [
      { when: 'only the plan is set', body: { plan: 'scale' }, answers: '201 ok' },
      {
        when: 'success_url has an allowed origin',
        body: { plan: 'pro', success_url: 'https://shop.example.com/thanks' },
        answers: '201 ok',
      },
      {
        when: 'success_url has another origin',
        body: { plan: 'pro', success_url: 'https://elsewhere.example' },
        answers: '400 invalid_request',
      },
    ],
    'POST /api/cancel-subscription': [
      { when: 'there is no subscription', body: {}, answers: '409 no_active_subscription' },
    ],
    'POST /api/resume-subscription': [
      { when: 'there is no subscription', answers: '409 no_active_subscription' },
    ],
    'POST /api/billing-portal': [{ when: 'the service has a sandbox', answers: '200 ok' }],
    'POST /api/billing/sandbox': [
      {
        as: 'anonymous',
        when: 'the signature is missing',
        body: '{notification}',
        answers: '400 invalid_request',
      },
      {
        as: 'anonymous',
        when: 'the signature is valid',
        body: '{notification}',
        headers: { 'sandbox-signature': '{signature}' },
        answers: '200 ok',
      },
    ],
    'POST /api/billing/stripe': [
      { as: 'anonymous', when: 'Stripe is not configured', body: {}, answers: '404 not_found' },
    ],
  },
};

/** For an account with the plan `pro`. */
export const SUBSCRIPTION: Area = {
  setUp: async (ada) => {
    await subscribe(ada, 'pro');
    return {};
  },
  calls: {
    'GET /api/billing': [{ when: 'a plan is paid', answers: '200 ok' }],
    'POST /api/init-payment': [
      { when: 'the account already has the plan', body: { plan: 'pro' }, answers: '409 invalid_transition' },
    ],
    'POST /api/cancel-subscription': [{ when: 'there is a subscription', answers: '200 ok' }],
    'POST /api/resume-subscription': [
      { when: 'the subscription was not canceled', answers: '409 invalid_transition' },
    ],
  },
};

/** For an account that has canceled the plan `pro`. */
export const CANCELED: Area = {
  setUp: async (ada) => {
    await subscribe(ada, 'pro');
    await ada.asSession('POST', '/api/cancel-subscription', {});
    return {};
  },
  calls: {
    'POST /api/resume-subscription': [{ when: 'the subscription was canceled', answers: '200 ok' }],
  },
};
