import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { endpoint } from '../auth/endpoint.ts';
import type { AppEnv } from '../http/context.ts';
import { pageQuery } from '../shared/schemas/lists.ts';
import { listDeliveries, listenForEvents, replay, resend, sendTest } from './deliveries.ts';
import {
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  patchEndpoint,
  revealEndpoint,
  rotateSecret,
} from './endpoints.ts';
import {
  createWebhookInput,
  deletedWebhookBody,
  deliveryBody,
  deliveryListBody,
  listenQuery,
  newEventsBody,
  patchWebhookInput,
  replayBody,
  replayInput,
  revealedWebhookBody,
  toDeliveryBody,
  toRevealedWebhook,
  toWebhook,
  webhookBody,
  webhookListBody,
} from './schemas.ts';

const hostOf = (url: string) => new URL(url).hostname;

/** A webhook goes on sending after the session that has pointed it somewhere has ended. */
const opensWayOut = (c: Context<AppEnv>): boolean => {
  const { url, status } = c.req.valid('json' as never) as z.output<typeof patchWebhookInput>;
  return url !== undefined || status === 'enabled';
};

const endpoints = new Hono<AppEnv>()
  .get(
    '/',
    endpoint({
      id: 'listWebhooks',
      tag: 'Webhooks',
      summary: 'List webhooks',
      access: 'account',
      query: z.object(pageQuery('whe')),
      answers: [
        { status: 200, description: 'The account’s webhooks, newest first.', schema: webhookListBody },
      ],
    }),
    async (c) => c.json(await listEndpoints(c.var.ctx, c.req.valid('query')), 200),
  )
  .post(
    '/',
    endpoint({
      id: 'createWebhook',
      tag: 'Webhooks',
      summary: 'Add a webhook',
      description: 'Adds an endpoint that receives events. The URL must use https and name a public host.',
      access: 'account',
      wantsProof: true,
      isRepeatable: true,
      body: createWebhookInput,
      answers: [
        { status: 201, description: 'The webhook and its signing secret.', schema: revealedWebhookBody },
      ],
      errors: ['limit_reached'],
    }),
    async (c) => {
      const { endpoint, secret } = await createEndpoint(c.var.ctx, c.req.valid('json'), hostOf(c.req.url));
      return c.json(toRevealedWebhook(endpoint, secret), 201);
    },
  )
  .get(
    '/:id',
    endpoint({
      id: 'revealWebhook',
      tag: 'Webhooks',
      summary: 'Get a webhook and its secret',
      access: 'account',
      wantsProof: true,
      answers: [
        { status: 200, description: 'The webhook and its signing secret.', schema: revealedWebhookBody },
      ],
      errors: ['webhook_not_found', 'storage_limit_reached'],
    }),
    async (c) => {
      const { endpoint, secret } = await revealEndpoint(c.var.ctx, c.req.param('id'));
      return c.json(toRevealedWebhook(endpoint, secret), 200);
    },
  )
  .patch(
    '/:id',
    endpoint({
      id: 'patchWebhook',
      tag: 'Webhooks',
      summary: 'Update a webhook',
      access: 'account',
      wantsProof: opensWayOut,
      isRepeatable: true,
      body: patchWebhookInput,
      answers: [{ status: 200, description: 'The updated webhook.', schema: webhookBody }],
      errors: ['webhook_not_found'],
    }),
    async (c) => {
      const { req } = c;
      const endpoint = await patchEndpoint(c.var.ctx, req.param('id'), req.valid('json'), hostOf(req.url));
      return c.json(toWebhook(endpoint), 200);
    },
  )
  .delete(
    '/:id',
    endpoint({
      id: 'deleteWebhook',
      tag: 'Webhooks',
      summary: 'Delete a webhook',
      description: 'Deletes the webhook and its deliveries.',
      access: 'account',
      answers: [{ status: 200, description: 'The webhook is deleted.', schema: deletedWebhookBody }],
      errors: ['webhook_not_found'],
    }),
    async (c) => {
      const id = c.req.param('id');
      await deleteEndpoint(c.var.ctx, id);
      return c.json({ id, deleted: true as const }, 200);
    },
  );

const deliveries = new Hono<AppEnv>()
  .post(
    '/:id/rotate-secret',
    endpoint({
      id: 'rotateWebhookSecret',
      tag: 'Webhooks',
      summary: 'Rotate a webhook’s secret',
      description:
        'Returns a new signing secret. Each earlier secret signs for 24 hours from the rotation that replaced it. At most five secrets sign at a time: a rotation beyond them is refused, and `details` says when the next one is possible.',
      access: 'account',
      wantsProof: true,
      isRepeatable: true,
      answers: [
        { status: 200, description: 'The webhook and its new signing secret.', schema: revealedWebhookBody },
      ],
      errors: ['webhook_not_found', 'limit_reached'],
    }),
    async (c) => {
      const { endpoint, secret } = await rotateSecret(c.var.ctx, c.req.param('id'));
      return c.json(toRevealedWebhook(endpoint, secret), 200);
    },
  )
  .post(
    '/:id/test',
    endpoint({
      id: 'testWebhook',
      tag: 'Webhooks',
      summary: 'Send a test event',
      description: 'Sends a `webhook.test` event to this webhook only.',
      access: 'account',
      isRepeatable: true,
      answers: [{ status: 200, description: 'The delivery of the test event.', schema: deliveryBody }],
      errors: ['webhook_not_found', 'invalid_transition'],
    }),
    async (c) => c.json(toDeliveryBody(await sendTest(c.var.ctx, c.req.param('id'))), 200),
  )
  .get(
    '/:id/deliveries',
    endpoint({
      id: 'listDeliveries',
      tag: 'Webhooks',
      summary: 'List deliveries',
      description: 'Lists deliveries with their attempts, newest first.',
      access: 'account',
      query: z.object(pageQuery('dlv')),
      answers: [{ status: 200, description: 'A page of deliveries.', schema: deliveryListBody }],
      errors: ['webhook_not_found'],
    }),
    async (c) => c.json(await listDeliveries(c.var.ctx, c.req.param('id'), c.req.valid('query')), 200),
  )
  .post(
    '/:id/replay',
    endpoint({
      id: 'replayWebhook',
      tag: 'Webhooks',
      summary: 'Send what a webhook has missed',
      description:
        'Makes all failed deliveries since a time due again, in their order and with the full retry schedule: those of events that happened while the webhook was disabled, and those that it refused. The same call again sends nothing twice.',
      access: 'account',
      isRepeatable: true,
      body: replayInput,
      answers: [{ status: 202, description: 'The deliveries are due.', schema: replayBody }],
      errors: ['webhook_not_found', 'invalid_transition'],
    }),
    async (c) => {
      const deliveries = await replay(c.var.ctx, c.req.param('id'), c.req.valid('json'));
      return c.json({ deliveries }, 202);
    },
  )
  .post(
    '/:id/deliveries/:delivery_id/resend',
    endpoint({
      id: 'resendDelivery',
      tag: 'Webhooks',
      summary: 'Resend a delivery',
      description:
        'Makes the delivery due immediately, with the same `webhook-id` and the full retry schedule.',
      access: 'account',
      isRepeatable: true,
      answers: [{ status: 200, description: 'The delivery, due now.', schema: deliveryBody }],
      errors: ['webhook_not_found', 'not_found', 'invalid_transition'],
    }),
    async (c) => {
      const { id, delivery_id } = c.req.param();
      return c.json(toDeliveryBody(await resend(c.var.ctx, id, delivery_id)), 200);
    },
  );

export const webhookRoutes = new Hono<AppEnv>().route('/', endpoints).route('/', deliveries);

export const eventRoutes = new Hono<AppEnv>().get(
  '/',
  endpoint({
    id: 'listenForEvents',
    tag: 'Webhooks',
    summary: 'Listen for events',
    description:
      'Returns the account’s events in the order in which they arrived, without a webhook. Call it without a cursor first, and then in a loop with the last `next_cursor`: no event is left out. A cursor expires after four minutes without a call. While a client listens without `verified=false`, `license.verified` events are created even if no webhook subscribes to them.',
    access: 'account',
    query: listenQuery,
    answers: [
      { status: 200, description: 'Up to 100 events that arrived after the cursor.', schema: newEventsBody },
    ],
    errors: ['limit_reached'],
  }),
  async (c) => c.json(await listenForEvents(c.var.ctx, c.req.valid('query')), 200),
);
