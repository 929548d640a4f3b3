import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { api, call } from './client.ts';

// Every question that a page asks, with the name under which its answer is kept.

export type Account = InferResponseType<typeof api.account.$get>;
export type Dashboard = InferResponseType<typeof api.dashboard.$get>;
export type Onboarding = InferResponseType<typeof api.onboarding.$get>;
export type Progress = InferResponseType<(typeof api)['developer-progress']['$get']>;
export type License = InferResponseType<(typeof api.v1.licenses)[':id']['$get']>;
export type LicenseChange = InferResponseType<
  (typeof api.v1.licenses)[':id']['history']['$get']
>['data'][number];
export type LicenseState = License['status'];
export type ApiKey = InferResponseType<(typeof api)['api-keys']['$get']>['data'][number];
export type Webhook = InferResponseType<typeof api.webhooks.$get>['data'][number];
export type RevealedWebhook = InferResponseType<(typeof api.webhooks)[':id']['$get']>;
export type Delivery = InferResponseType<(typeof api.webhooks)[':id']['deliveries']['$get']>['data'][number];
export type Billing = InferResponseType<typeof api.billing.$get>;

const PAGE = '50';

/** Of a list's next page, its cursor; the first page has none. */
const paged = {
  initialPageParam: null as string | null,
  getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor,
};
const cursorOf = (cursor: string | null) => (cursor === null ? {} : { cursor });

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: () => call(api.account.$get()),
  staleTime: 60_000,
});

export const dashboardQuery = queryOptions({
  queryKey: ['dashboard'],
  queryFn: () => call(api.dashboard.$get()),
});

export const progressQuery = queryOptions({
  queryKey: ['progress'],
  queryFn: () => call(api['developer-progress'].$get()),
});

/** Its snippets name the newest license, so it is asked anew when another first step is done. */
export const onboardingQuery = (completed: number) =>
  queryOptions({
    queryKey: ['onboarding', completed],
    queryFn: () => call(api.onboarding.$get()),
    placeholderData: keepPreviousData,
  });

export interface LicenseFilter {
  q?: string | undefined;
  status?: LicenseState | undefined;
}

export const licensesQuery = ({ q, status }: LicenseFilter) =>
  infiniteQueryOptions({
    queryKey: ['licenses', 'list', { q: q ?? '', status: status ?? '' }],
    queryFn: ({ pageParam }) =>
      call(
        api.v1.licenses.$get({
          query: { limit: PAGE, ...cursorOf(pageParam), ...(q && { q }), ...(status && { status }) },
        }),
      ),
    ...paged,
  });

export const licenseQuery = (id: string) =>
  queryOptions({
    queryKey: ['licenses', 'one', id],
    queryFn: () => call(api.v1.licenses[':id'].$get({ param: { id } })),
  });

export const historyQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['licenses', 'history', id],
    queryFn: ({ pageParam }) =>
      call(
        api.v1.licenses[':id'].history.$get({
          param: { id },
          query: { limit: PAGE, ...cursorOf(pageParam) },
        }),
      ),
    ...paged,
  });

export const apiKeysQuery = infiniteQueryOptions({
  queryKey: ['api-keys'],
  queryFn: ({ pageParam }) => call(api['api-keys'].$get({ query: { limit: PAGE, ...cursorOf(pageParam) } })),
  ...paged,
});

/** The key in full; not kept, so that it is gone with whoever asked for it. */
export const revealApiKey = (id: string) => call(api['api-keys'][':id'].$get({ param: { id } }));

export const apiKeyInFull = async (id: string): Promise<string> => (await revealApiKey(id)).api_key;

export const isGoodKey = ({ expires_at }: ApiKey, nowMs: number): boolean =>
  expires_at === null || Date.parse(expires_at) > nowMs;

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks', 'list'],
  // More endpoints than one page an account can't have.
  queryFn: () => call(api.webhooks.$get({ query: { limit: '100' } })),
});

/** The endpoint with its secret; not kept, so that it is gone with whoever asked for it. */
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

/** A delivery, whichever page it is on; null if it is gone. Ids sort by time: past its place it is not looked for. */
export const deliveryQuery = (id: string, deliveryId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'delivery', id, deliveryId],
    queryFn: async ({ signal }) => {
      let cursor: string | null = null;
      do {
        const query = { limit: '100', ...cursorOf(cursor) };
        const page: { data: Delivery[]; next_cursor: string | null } = await call(
          api.webhooks[':id'].deliveries.$get({ param: { id }, query }, { init: { signal } }),
        );
        const found = page.data.find((delivery) => delivery.id === deliveryId);
        if (found) return found;
        cursor = page.next_cursor;
      } while (cursor !== null && cursor > deliveryId);
      return null;
    },
  });

export const billingQuery = queryOptions({
  queryKey: ['billing'],
  queryFn: () => call(api.billing.$get()),
});
