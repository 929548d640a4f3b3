import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { MAX_ENDPOINTS } from '../../shared/rules/webhooks.ts';
import { api, call } from './client.ts';
import { cursorOf, PAGE, paged } from './queries.ts';

// Queries of webhooks and their deliveries.

export type Webhook = InferResponseType<typeof api.webhooks.$get>['data'][number];
export type RevealedWebhook = InferResponseType<(typeof api.webhooks)[':id']['$get']>;
export type DeliveryBody = InferResponseType<
  (typeof api.webhooks)[':id']['deliveries']['$get']
>['data'][number];

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks', 'list'],
  queryFn: () => call(api.webhooks.$get({ query: { limit: String(MAX_ENDPOINTS) } })),
});

/** Fetches a webhook with its signing secret, without caching it. */
export const revealWebhook = (id: string) => call(api.webhooks[':id'].$get({ param: { id } }));

export const deliveriesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['webhooks', 'deliveries', id],
    queryFn: ({ pageParam }) =>
      call(
        api.webhooks[':id'].deliveries.$get({
          param: { id },
          query: { limit: PAGE, ...cursorOf(pageParam) },
        }),
      ),
    ...paged,
  });

/**
 * Searches the pages of deliveries for one delivery; null if it no longer exists. Ids sort by time, so the search ends
 * at pages older than the delivery.
 */
export const deliveryQuery = (id: string, deliveryId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'delivery', id, deliveryId],
    queryFn: async ({ signal }) => {
      let cursor: string | null = null;
      do {
        const query = { limit: '100', ...cursorOf(cursor) };
        const page: { data: DeliveryBody[]; next_cursor: string | null } = await call(
          api.webhooks[':id'].deliveries.$get({ param: { id }, query }, { init: { signal } }),
        );
        const match = page.data.find((delivery) => delivery.id === deliveryId);
        if (match) return match;
        cursor = page.next_cursor;
      } while (cursor !== null && cursor > deliveryId);
      return null;
    },
  });
