import * as z from 'zod';
import { toPaddleFacts } from './paddle-facts.ts';
import { askedId, id, idsOf, tellAll, time } from './parts.ts';
import type { ApiAccess, StoreApi } from './provider.ts';

const PAGE = 100;

const event = z.object({
  event_id: id,
  event_type: z.string().max(100),
  occurred_at: time,
  data: z.unknown().optional(),
});

const events = z.object({
  data: z.array(event),
  meta: z.object({ pagination: z.object({ has_more: z.boolean() }) }),
});
const portal = z.object({ data: z.object({ urls: z.object({ general: z.object({ overview: z.url() }) }) }) });

const call = (access: ApiAccess, path: string, json?: unknown): Promise<unknown> =>
  access.call(path, {
    headers: { authorization: `Bearer ${access.key}`, 'paddle-version': '1' },
    ...(json !== undefined && { method: 'POST' as const, json }),
  });

export const paddleApi: StoreApi = {
  origin: (key) => (key.includes('_sdbx_') ? 'https://sandbox-api.paddle.com' : 'https://api.paddle.com'),

  /** Paddle keeps each event as it was, also those of which nobody was notified. */
  listRecent: async (access, sinceMs, cursor) => {
    const after = cursor === null ? '' : `&after=${encodeURIComponent(cursor)}`;
    const page = events.parse(await call(access, `/events?per_page=${PAGE}&order_by=id%5BDESC%5D${after}`));
    const recent = page.data.filter(({ occurred_at: atMs }) => atMs >= sinceMs);
    const isLast = recent.length < page.data.length || !page.meta.pagination.has_more;
    return {
      ...tellAll(
        recent.map(
          ({ event_type: type, data }) =>
            () =>
              toPaddleFacts(type, data),
        ),
      ),
      next: isLast ? null : (page.data.at(-1)?.event_id ?? null),
    };
  },

  ask: async (access, ask) => {
    const answer = await call(access, `/customers/${askedId(ask)}`);
    return toPaddleFacts('customer', z.object({ data: z.unknown().optional() }).parse(answer).data).facts;
  },

  needsBuyer: true,
  storeLink: async (access, things, buyer) => {
    const [customerId] = buyer === null ? [] : idsOf([buyer], 'customer');
    if (customerId === undefined) return null;
    const path = `/customers/${encodeURIComponent(customerId)}/portal-sessions`;
    const subscriptions = idsOf(things, 'subscription').slice(0, 25);
    return portal.parse(await call(access, path, { subscription_ids: subscriptions })).data.urls.general
      .overview;
  },
};
