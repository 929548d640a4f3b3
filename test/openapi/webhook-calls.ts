import type { Call } from './fixtures.ts';

// Calls to every webhook operation. `derived-calls.ts` adds the calls that follow
// from its access and its input.

const session = { as: 'session' } as const;
const ALL = '/api/webhooks';
const WEBHOOK = '/api/webhooks/{webhook}';
const TO_DELETE = '/api/webhooks/{webhook to delete}';
const DISABLED = '/api/webhooks/{disabled webhook}';
const UNKNOWN = '/api/webhooks/whe_none';
const noWebhook = { status: 404, code: 'webhook_not_found' } as const;
const disabled = { status: 409, code: 'invalid_transition' } as const;

const ALL_FIELDS = {
  url: '{url}',
  events: ['license.created', 'payment.success'],
  description: 'The shop',
};

const FORBIDDEN_URL = { url: 'https://192.0.2.1/hooks' };

export const WEBHOOK_CALLS: Call[] = [
  { ...session, method: 'GET', path: '/api/events', when: 'it starts to listen', status: 200 },
  ...['', '?limit=1'].map((query): Call => ({
    ...session,
    method: 'GET',
    path: ALL + query,
    when: 'there are webhooks',
    status: 200,
  })),
  { as: 'key', method: 'GET', path: ALL, when: 'called with an API key', status: 200 },
  ...[
    { when: 'only the URL is set', body: { url: '{url}' }, status: 201 },
    { when: 'every field is set', body: ALL_FIELDS, status: 201 },
    {
      when: 'the URL has no public host',
      body: FORBIDDEN_URL,
      status: 400,
      code: 'invalid_request' as const,
    },
  ].map((row) => ({ ...session, method: 'POST', path: ALL, ...row })),
  { ...session, method: 'GET', path: WEBHOOK, when: 'the webhook exists', status: 200 },
  { ...session, method: 'GET', path: UNKNOWN, when: 'the webhook does not exist', ...noWebhook },
  ...[
    { when: 'every field changes', path: WEBHOOK, body: { ...ALL_FIELDS, status: 'enabled' }, status: 200 },
    {
      when: 'optional fields are reset',
      path: WEBHOOK,
      body: { events: null, description: null },
      status: 200,
    },
    { when: 'the webhook does not exist', path: UNKNOWN, body: {}, ...noWebhook },
    {
      when: 'the new URL is not allowed',
      path: WEBHOOK,
      body: FORBIDDEN_URL,
      status: 400,
      code: 'invalid_request' as const,
    },
  ].map((row) => ({ ...session, method: 'PATCH', ...row })),
  { ...session, method: 'DELETE', path: TO_DELETE, when: 'the webhook exists', status: 200 },
  { ...session, method: 'DELETE', path: TO_DELETE, when: 'the webhook was deleted', ...noWebhook },
  { ...session, method: 'POST', path: `${WEBHOOK}/rotate-secret`, when: 'the webhook exists', status: 200 },
  {
    ...session,
    method: 'POST',
    path: `${UNKNOWN}/rotate-secret`,
    when: 'the webhook does not exist',
    ...noWebhook,
  },
  { ...session, method: 'POST', path: `${WEBHOOK}/test`, when: 'the webhook is enabled', status: 200 },
  { ...session, method: 'POST', path: `${DISABLED}/test`, when: 'the webhook is disabled', ...disabled },
  { ...session, method: 'POST', path: `${UNKNOWN}/test`, when: 'the webhook does not exist', ...noWebhook },
  ...['', '?limit=1'].map((query): Call => ({
    ...session,
    method: 'GET',
    path: `${WEBHOOK}/deliveries${query}`,
    when: 'there are deliveries',
    status: 200,
  })),
  {
    ...session,
    method: 'GET',
    path: `${UNKNOWN}/deliveries`,
    when: 'the webhook does not exist',
    ...noWebhook,
  },
  ...[
    { when: 'the delivery exists', path: `${WEBHOOK}/deliveries/{delivery}`, status: 200 },
    {
      when: 'the delivery does not exist',
      path: `${WEBHOOK}/deliveries/dlv_none`,
      status: 404,
      code: 'not_found' as const,
    },
    { when: 'the webhook is disabled', path: `${DISABLED}/deliveries/{disabled delivery}`, ...disabled },
    { when: 'the webhook does not exist', path: `${UNKNOWN}/deliveries/{delivery}`, ...noWebhook },
  ].map((row) => ({ ...session, method: 'POST', ...row, path: `${row.path}/resend` })),
];
