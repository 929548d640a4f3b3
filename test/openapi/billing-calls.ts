import type { Call } from './fixtures.ts';

// Calls to every billing operation, in the order of a subscription's lifecycle. `derived-calls.ts` adds
// the calls that follow from its access and its input.

const session = { as: 'session' } as const;
const INIT = '/api/init-payment';
const CANCEL = '/api/cancel-subscription';
const SANDBOX = '/api/billing/sandbox';
const badRequest = { status: 400, code: 'invalid_request' } as const;

const SETTINGS = { name: 'Ada', allowed_origins: ['https://shop.example.com'] };

export const BILLING_CALLS: Call[] = [
  {
    ...session,
    method: 'PATCH',
    path: '/api/account',
    when: 'the settings change',
    body: SETTINGS,
    status: 200,
  },
  { ...session, method: 'GET', path: '/api/billing', when: 'there is no payment', status: 200 },
  {
    ...session,
    method: 'POST',
    path: CANCEL,
    when: 'there is no subscription',
    body: {},
    status: 409,
    code: 'no_active_subscription',
  },
  ...[
    { when: 'only the plan is set', body: { plan: 'scale' }, status: 201 },
    {
      when: 'success_url has an allowed origin',
      body: { plan: 'pro', success_url: 'https://shop.example.com/thanks' },
      status: 201,
    },
    {
      when: 'success_url has another origin',
      body: { plan: 'pro', success_url: 'https://elsewhere.example' },
      ...badRequest,
    },
  ].map((row) => ({ ...session, method: 'POST', path: INIT, ...row })),
  {
    as: 'anonymous',
    method: 'POST',
    path: SANDBOX,
    when: 'the signature is valid',
    body: '{notification}',
    headers: { 'sandbox-signature': '{signature}' },
    status: 200,
  },
  {
    as: 'anonymous',
    method: 'POST',
    path: SANDBOX,
    when: 'the signature is missing',
    body: '{notification}',
    ...badRequest,
  },
  {
    as: 'anonymous',
    method: 'POST',
    path: '/api/billing/stripe',
    when: 'Stripe is not configured',
    body: {},
    status: 404,
    code: 'not_found',
  },
  { ...session, method: 'GET', path: '/api/billing', when: 'a plan is paid', status: 200 },
  {
    ...session,
    method: 'POST',
    path: INIT,
    when: 'the account already has the plan',
    body: { plan: 'pro' },
    status: 409,
    code: 'invalid_transition',
  },
  { ...session, method: 'POST', path: CANCEL, when: 'there is a subscription', status: 200 },
  { as: 'key', method: 'GET', path: '/api/billing', when: 'called with an API key', status: 200 },
];
