import type { Call } from './stage.ts';

// Every billing operation, in the order of a subscription's life; `calls.ts` adds what their access implies.

const session = { as: 'session' } as const;
const INIT = '/api/init-payment';
const CANCEL = '/api/cancel-subscription';
const SANDBOX = '/api/billing/sandbox';
const badRequest = { status: 400, code: 'invalid_request' } as const;

const SETTINGS = { name: 'Ada', allowed_origins: ['https://shop.example.com'] };

export const BILLING_CALLS: Call[] = [
  { ...session, method: 'PATCH', path: '/api/account', when: 'it is changed', body: SETTINGS, status: 200 },
  { ...session, method: 'GET', path: '/api/billing', when: 'nothing was paid', status: 200 },
  ...[{ when: 'nothing is subscribed', body: {}, status: 409, code: 'no_active_subscription' as const }].map(
    (row) => ({ ...session, method: 'POST', path: CANCEL, ...row }),
  ),
  ...[
    { when: 'a plan is named', body: { plan: 'scale' }, status: 201 },
    {
      when: 'the browser is to come back to the account’s own site',
      body: { plan: 'pro', success_url: 'https://shop.example.com/thanks' },
      status: 201,
    },
    {
      when: 'it is to go elsewhere',
      body: { plan: 'pro', success_url: 'https://elsewhere.example' },
      ...badRequest,
    },
  ].map((row) => ({ ...session, method: 'POST', path: INIT, ...row })),
  {
    as: 'nobody',
    method: 'POST',
    path: SANDBOX,
    when: 'the signature is right',
    body: '{notification}',
    headers: { 'sandbox-signature': '{signature}' },
    status: 200,
  },
  {
    as: 'nobody',
    method: 'POST',
    path: SANDBOX,
    when: 'nobody signed',
    body: '{notification}',
    ...badRequest,
  },
  {
    as: 'nobody',
    method: 'POST',
    path: '/api/billing/stripe',
    when: 'Stripe is not set up',
    body: {},
    status: 404,
    code: 'not_found',
  },
  { ...session, method: 'GET', path: '/api/billing', when: 'a plan is paid for', status: 200 },
  {
    ...session,
    method: 'POST',
    path: INIT,
    when: 'the plan is the one there is',
    body: { plan: 'pro' },
    status: 409,
    code: 'invalid_transition',
  },
  { ...session, method: 'POST', path: CANCEL, when: 'there is a subscription', status: 200 },
  { as: 'key', method: 'GET', path: '/api/billing', when: 'an API key asks', status: 200 },
];
