import { newReceiver } from '../../support/receiver.ts';
import type { Area } from '../area.ts';

const ALL_FIELDS = {
  url: '{url}',
  events: ['license.created', 'payment.success'],
  description: 'The shop',
};

const FORBIDDEN_URL = { url: 'https://192.0.2.1/hooks' };

/** For an account with a webhook and a disabled webhook, which have a delivery each. */
export const WEBHOOKS: Area = {
  setUp: async ({ asSession }) => {
    const { url } = await newReceiver();
    const addWebhook = async () => {
      const { id } = (await asSession('POST', '/api/webhooks', { url })).body;
      const { body: delivery } = await asSession('POST', `/api/webhooks/${id}/test`);
      return { id: id as string, delivery: delivery.id as string };
    };
    const [webhook, disabled] = [await addWebhook(), await addWebhook()];
    await asSession('PATCH', `/api/webhooks/${disabled.id}`, { status: 'disabled' });
    return {
      url,
      webhook: webhook.id,
      delivery: webhook.delivery,
      disabled: disabled.id,
      'disabled delivery': disabled.delivery,
    };
  },
  calls: {
    'GET /api/events': [{ when: 'it starts to listen', answers: '200 ok' }],
    'GET /api/webhooks': [
      { when: 'there are webhooks', answers: '200 ok' },
      { as: 'key', when: 'called with an API key', answers: '200 ok' },
    ],
    'GET /api/webhooks?limit=1': [{ when: 'more pages follow', answers: '200 ok' }],
    'POST /api/webhooks': [
      { when: 'only the URL is set', body: { url: '{url}' }, answers: '201 ok' },
      { when: 'every field is set', body: ALL_FIELDS, answers: '201 ok' },
      { when: 'the URL has no public host', body: FORBIDDEN_URL, answers: '400 invalid_request' },
    ],
    'GET /api/webhooks/{webhook}': [{ when: 'the webhook exists', answers: '200 ok' }],
    'GET /api/webhooks/whe_none': [{ when: 'the webhook does not exist', answers: '404 webhook_not_found' }],
    'PATCH /api/webhooks/{webhook}': [
      { when: 'every field changes', body: { ...ALL_FIELDS, status: 'enabled' }, answers: '200 ok' },
      { when: 'optional fields are reset', body: { events: null, description: null }, answers: '200 ok' },
      { when: 'the new URL is not allowed', body: FORBIDDEN_URL, answers: '400 invalid_request' },
    ],
    'PATCH /api/webhooks/whe_none': [
      { when: 'the webhook does not exist', body: {}, answers: '404 webhook_not_found' },
    ],
    'DELETE /api/webhooks/{webhook}': [
      { when: 'the webhook exists', answers: '200 ok' },
      { when: 'the webhook was deleted', answers: '404 webhook_not_found' },
    ],
    'POST /api/webhooks/{webhook}/rotate-secret': [{ when: 'the webhook exists', answers: '200 ok' }],
    'POST /api/webhooks/whe_none/rotate-secret': [
      { when: 'the webhook does not exist', answers: '404 webhook_not_found' },
    ],
    'POST /api/webhooks/{webhook}/test': [{ when: 'the webhook is enabled', answers: '200 ok' }],
    'POST /api/webhooks/{disabled}/test': [
      { when: 'the webhook is disabled', answers: '409 invalid_transition' },
    ],
    'POST /api/webhooks/whe_none/test': [
      { when: 'the webhook does not exist', answers: '404 webhook_not_found' },
    ],
    'GET /api/webhooks/{webhook}/deliveries': [{ when: 'there are deliveries', answers: '200 ok' }],
    'GET /api/webhooks/{webhook}/deliveries?limit=1': [{ when: 'there are deliveries', answers: '200 ok' }],
    'GET /api/webhooks/whe_none/deliveries': [
      { when: 'the webhook does not exist', answers: '404 webhook_not_found' },
    ],
    'POST /api/webhooks/{webhook}/replay': [
      {
        when: 'the time has passed',
        body: { since: '2027-03-10T12:00:00Z', events: ['license.created'] },
        answers: '202 ok',
      },
      { when: 'the time is not one', body: { since: 'yesterday' }, answers: '400 invalid_request' },
    ],
    'POST /api/webhooks/{disabled}/replay': [
      {
        when: 'the webhook is disabled',
        body: { since: '2027-03-10T12:00:00Z' },
        answers: '409 invalid_transition',
      },
    ],
    'POST /api/webhooks/whe_none/replay': [
      {
        when: 'the webhook does not exist',
        body: { since: '2027-03-10T12:00:00Z' },
        answers: '404 webhook_not_found',
      },
    ],
    'POST /api/webhooks/{webhook}/deliveries/{delivery}/resend': [
      { when: 'the delivery exists', answers: '200 ok' },
    ],
    'POST /api/webhooks/{webhook}/deliveries/dlv_none/resend': [
      { when: 'the delivery does not exist', answers: '404 not_found' },
    ],
    'POST /api/webhooks/{disabled}/deliveries/{disabled delivery}/resend': [
      { when: 'the webhook is disabled', answers: '409 invalid_transition' },
    ],
    'POST /api/webhooks/whe_none/deliveries/{delivery}/resend': [
      { when: 'the webhook does not exist', answers: '404 webhook_not_found' },
    ],
  },
};
