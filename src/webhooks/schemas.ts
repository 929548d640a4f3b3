import * as z from 'zod';
import { isoTime, isoTimeOrNull } from '../shared/rules/dates.ts';
import { EVENT_NAMES, type EventName, TEST_EVENT } from '../shared/rules/events.ts';
import { MAX_DESCRIPTION_LENGTH, MAX_URL_LENGTH } from '../shared/rules/webhooks.ts';
import { listOf } from '../shared/schemas/lists.ts';
import { earlierSecretsEndMs } from './endpoint-store.ts';
import type { Arrivals } from './listening.ts';
import type { DeliveryRecord, Endpoint } from './outbox-tables.ts';

const eventNames = z
  .array(z.enum(EVENT_NAMES))
  .min(1)
  .max(EVENT_NAMES.length)
  .meta({ description: 'The events to send. By default, or with null, all events are sent.' });

const url = z
  .string()
  .max(MAX_URL_LENGTH)
  .meta({ format: 'uri', examples: ['https://example.com/hooks/latchkey'] });
const description = z.string().trim().min(1).max(MAX_DESCRIPTION_LENGTH);

export const createWebhookInput = z
  .strictObject({ url, events: eventNames.nullish(), description: description.nullish() })
  .meta({ id: 'CreateWebhook' });

export const patchWebhookInput = z
  .strictObject({
    url: url.optional(),
    events: eventNames.nullish(),
    description: description.nullish(),
    status: z.enum(['enabled', 'disabled']).optional().meta({
      description:
        'Disabling a webhook cancels its pending deliveries. These, and what happens within 14 days, can be sent later.',
    }),
  })
  .meta({ id: 'PatchWebhook' });

const webhookFields = {
  id: z.string().meta({ examples: ['whe_0VJ1mKq7XbT2c9LpQwZa'] }),
  url: z.string(),
  description: z.string().nullable(),
  events: z.array(z.enum(EVENT_NAMES)),
  status: z.enum(['enabled', 'disabled']),
  disabled_reason: z.enum(['by_you', 'gone', 'failing']).nullable().meta({
    description:
      'Why the webhook is disabled: `by_you` if you disabled it, `gone` if it answered 410 twice, five minutes apart, `failing` if it only failed for five days.',
  }),
  failing_since: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'The time of the first failure since the last success.' }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};

export const webhookBody = z.object(webhookFields).meta({ id: 'Webhook' });
export const revealedWebhookBody = z
  .object({
    ...webhookFields,
    secret: z.string().meta({
      description: 'The secret that signs requests to this webhook, according to Standard Webhooks.',
    }),
    old_secret_expires_at: z.iso.datetime().nullable().meta({
      description:
        'The time until which the previous secret signs as well. Each earlier secret signs for 24 hours after its rotation.',
    }),
  })
  .meta({ id: 'RevealedWebhook' });
export const webhookListBody = listOf(webhookBody).meta({ id: 'WebhookList' });
export const deletedWebhookBody = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: 'DeletedWebhook' });

export const deliveryBody = z
  .object({
    id: z.string().meta({ examples: ['dlv_0VJ1mKq7XbT2c9LpQwZa'] }),
    event_id: z.string().meta({ description: 'The event’s id, sent as `webhook-id` with every attempt.' }),
    event: z.enum([...EVENT_NAMES, TEST_EVENT]),
    status: z.enum(['pending', 'delivered', 'failed']),
    attempts: z.array(
      z.object({
        time: z.iso.datetime(),
        status_code: z.int().nullable(),
        error: z.string().nullable(),
        duration_ms: z.int(),
        response: z.string().nullable().meta({ description: 'The first 2 KiB of the response.' }),
      }),
    ),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why the delivery failed permanently, if its last attempt doesn’t say so.' }),
    next_attempt_at: z.iso.datetime().nullable(),
    payload: z.string().meta({ description: 'The exact request body.' }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Delivery' });

export const replayInput = z
  .strictObject({
    since: z.iso.datetime({ offset: true }).meta({
      description:
        'Deliveries of events from this time on are sent. Events are kept for 14 days while the webhook is disabled.',
    }),
    events: eventNames
      .nullish()
      .meta({ description: 'The events to send. By default, or with null, all of them.' }),
  })
  .meta({ id: 'ReplayWebhook' });
export type ReplayInput = z.output<typeof replayInput>;

export const replayBody = z
  .object({ deliveries: z.int().meta({ description: 'How many deliveries are due now.' }) })
  .meta({ id: 'WebhookReplay' });

export const deliveryListBody = listOf(deliveryBody).meta({ id: 'DeliveryList' });

const MAX_WAIT_SECONDS = 25;

export const listenQuery = z.object({
  cursor: z
    .string()
    .regex(/^[0-9]{1,15}$/, 'must be a next_cursor that this endpoint returned')
    .optional()
    .meta({ description: 'The `next_cursor` of the previous call. Without it, the call starts to listen.' }),
  wait: z.coerce.number().int().min(0).max(MAX_WAIT_SECONDS).default(0).meta({
    description:
      'Seconds to wait for an event if there are none. At most 2, 10, or 50 calls of an account with an API key may wait at a time, depending on its plan, and 10 by session.',
  }),
  verified: z.enum(['true', 'false']).default('true').meta({
    description:
      'With `false`, the call leaves out `license.verified`, and doesn’t let these events be created.',
  }),
});

export const newEventsBody = z
  .object({
    data: z.array(
      z.object({
        id: z.string().meta({ description: 'The event’s id, which is the `webhook-id` of its deliveries.' }),
        event: z.enum(EVENT_NAMES),
        payload: z.string().meta({ description: 'The exact body of its deliveries.' }),
        created_at: z.iso.datetime(),
      }),
    ),
    next_cursor: z.string().meta({ description: 'The cursor for the next call. It is never null.' }),
  })
  .meta({ id: 'NewEvents' });

export const toNewEvents = ({ events, cursor }: Arrivals): z.infer<typeof newEventsBody> => ({
  data: events.map(({ id, name, payload, createdAtMs }) => ({
    id,
    event: name as EventName,
    payload,
    created_at: isoTime(createdAtMs),
  })),
  next_cursor: String(cursor),
});

export const toWebhook = (endpoint: Endpoint): z.infer<typeof webhookBody> => ({
  id: endpoint.id,
  url: endpoint.url,
  description: endpoint.description,
  events: endpoint.events ?? [...EVENT_NAMES],
  status: endpoint.disabledReason === null ? 'enabled' : 'disabled',
  disabled_reason: endpoint.disabledReason,
  failing_since: isoTimeOrNull(endpoint.failingSinceMs),
  created_at: isoTime(endpoint.createdAtMs),
  updated_at: isoTime(endpoint.updatedAtMs),
});

export const toRevealedWebhook = (
  endpoint: Endpoint,
  secret: string,
): z.infer<typeof revealedWebhookBody> => ({
  ...toWebhook(endpoint),
  secret,
  old_secret_expires_at: isoTimeOrNull(earlierSecretsEndMs(endpoint, Date.now())),
});

export const toDeliveryBody = (delivery: DeliveryRecord): z.infer<typeof deliveryBody> => ({
  id: delivery.id,
  event_id: delivery.eventId,
  event: delivery.event.name,
  status: delivery.status,
  attempts: delivery.attempts.map(({ atMs, statusCode, error, durationMs, response }) => ({
    time: isoTime(atMs),
    status_code: statusCode,
    error,
    duration_ms: durationMs,
    response,
  })),
  error: delivery.error,
  next_attempt_at:
    delivery.status === 'pending' && delivery.lease === null ? isoTime(delivery.dueAtMs) : null,
  payload: delivery.event.payload,
  created_at: isoTime(delivery.createdAtMs),
});
