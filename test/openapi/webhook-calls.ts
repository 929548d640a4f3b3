import type { Call } from './stage.ts';

// Every webhook operation, driven by hand; `calls.ts` adds what its access and its input imply.

const session = { as: 'session' } as const;
const ALL = '/api/webhooks';
const WEBHOOK = '/api/webhooks/{webhook}';
const DOOMED = '/api/webhooks/{doomed webhook}';
const DISABLED = '/api/webhooks/{disabled webhook}';
const NONE = '/api/webhooks/whe_none';
const noWebhook = { status: 404, code: 'webhook_not_found' } as const;
const disabled = { status: 409, code: 'invalid_transition' } as const;

const IN_FULL = {
  url: '{url}',
  events: ['license.created', 'payment.success'],
  description: 'The shop',
};

const REFUSED_URL = { url: 'https://192.0.2.1/hooks' };

export const WEBHOOK_CALLS: Call[] = [
  ...['', '?limit=1'].map((query): Call => ({
    ...session,
    method: 'GET',
    path: ALL + query,
    when: 'there are some',
    status: 200,
  })),
  { as: 'key', method: 'GET', path: ALL, when: 'an API key asks', status: 200 },
  ...[
    { when: 'only the URL is named', body: { url: '{url}' }, status: 201 },
    { when: 'the body names everything', body: IN_FULL, status: 201 },
    {
      when: 'the URL leads to no public host',
      body: REFUSED_URL,
      status: 400,
      code: 'invalid_request' as const,
    },
  ].map((row) => ({ ...session, method: 'POST', path: ALL, ...row })),
  { ...session, method: 'GET', path: WEBHOOK, when: 'it is there', status: 200 },
  { ...session, method: 'GET', path: NONE, when: 'it is not', ...noWebhook },
  ...[
    { when: 'everything changes', path: WEBHOOK, body: { ...IN_FULL, status: 'enabled' }, status: 200 },
    { when: 'it forgets what it can', path: WEBHOOK, body: { events: null, description: null }, status: 200 },
    { when: 'it is not there', path: NONE, body: {}, ...noWebhook },
    {
      when: 'the new URL is refused',
      path: WEBHOOK,
      body: REFUSED_URL,
      status: 400,
      code: 'invalid_request' as const,
    },
  ].map((row) => ({ ...session, method: 'PATCH', ...row })),
  { ...session, method: 'DELETE', path: DOOMED, when: 'it is there', status: 200 },
  { ...session, method: 'DELETE', path: DOOMED, when: 'it was', ...noWebhook },
  { ...session, method: 'POST', path: `${WEBHOOK}/rotate-secret`, when: 'it is there', status: 200 },
  { ...session, method: 'POST', path: `${NONE}/rotate-secret`, when: 'it is not', ...noWebhook },
  { ...session, method: 'POST', path: `${WEBHOOK}/test`, when: 'it is enabled', status: 200 },
  { ...session, method: 'POST', path: `${DISABLED}/test`, when: 'it is disabled', ...disabled },
  { ...session, method: 'POST', path: `${NONE}/test`, when: 'it is not there', ...noWebhook },
  ...['', '?limit=1'].map((query): Call => ({
    ...session,
    method: 'GET',
    path: `${WEBHOOK}/deliveries${query}`,
    when: 'there are some',
    status: 200,
  })),
  { ...session, method: 'GET', path: `${NONE}/deliveries`, when: 'the webhook is not there', ...noWebhook },
  ...[
    { when: 'it is there', path: `${WEBHOOK}/deliveries/{delivery}`, status: 200 },
    {
      when: 'it is not',
      path: `${WEBHOOK}/deliveries/dlv_none`,
      status: 404,
      code: 'not_found' as const,
    },
    { when: 'the webhook is disabled', path: `${DISABLED}/deliveries/{disabled delivery}`, ...disabled },
    { when: 'the webhook is not there', path: `${NONE}/deliveries/{delivery}`, ...noWebhook },
  ].map((row) => ({ ...session, method: 'POST', ...row, path: `${row.path}/resend` })),
];
