import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { api, call } from './client.ts';

// The dashboard's queries with their cache keys.

/** The first part of a query key. Mutations name the queries to invalidate by it. */
export type QueryRoot =
  | 'account'
  | 'api-keys'
  | 'audit-log'
  | 'billing'
  | 'dashboard'
  | 'health'
  | 'import'
  | 'key-set'
  | 'licenses'
  | 'onboarding'
  | 'operator'
  | 'portal'
  | 'products'
  | 'progress'
  | 'purchases'
  | 'regions'
  | 'sessions'
  | 'stores'
  | 'two-factor'
  | 'webhooks';

export type Account = InferResponseType<typeof api.account.$get>;
export type Dashboard = InferResponseType<typeof api.dashboard.$get>;
export type ProgressBody = InferResponseType<(typeof api)['developer-progress']['$get']>;
export type LicenseBody = InferResponseType<(typeof api.v1.licenses)[':id']['$get']>;
export type LicenseChange = InferResponseType<
  (typeof api.v1.licenses)[':id']['history']['$get']
>['data'][number];
export type ActivationBody = InferResponseType<
  (typeof api.v1.licenses)[':id']['activations']['$get']
>['data'][number];
export type SeatChangeBody = InferResponseType<
  (typeof api.v1.licenses)[':id']['seat-history']['$get']
>['data'][number];
export type Product = InferResponseType<(typeof api.v1.products)[':code']['$get']>;
export type ApiKey = InferResponseType<(typeof api)['api-keys']['$get']>['data'][number];
export type Regions = InferResponseType<typeof api.regions.$get>;
export type Billing = InferResponseType<typeof api.billing.$get>;

export const PAGE = '50';

/** Options of paged lists: the first page has no cursor. */
export const paged = {
  initialPageParam: null as string | null,
  getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor,
};
export const cursorOf = (cursor: string | null) => (cursor === null ? {} : { cursor });

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: () => call(api.account.$get()),
  staleTime: 60_000,
});

/** The public keys that check the account's tokens. They change only when the operator rotates the signing keys. */
export const keySetQuery = (accountId: string) =>
  queryOptions({
    queryKey: ['key-set', accountId],
    queryFn: () => call(api.v1.jwks[':account_id'].$get({ param: { account_id: accountId } })),
    staleTime: 300_000,
  });

export const dashboardQuery = queryOptions({
  queryKey: ['dashboard'],
  queryFn: () => call(api.dashboard.$get()),
});

export const progressQuery = queryOptions({
  queryKey: ['progress'],
  queryFn: () => call(api['developer-progress'].$get()),
});

/** The snippets have the key of a sample license, so they are fetched again when a first step is completed. */
export const onboardingQuery = (completed: number) =>
  queryOptions({
    queryKey: ['onboarding', completed],
    queryFn: () => call(api.onboarding.$get()),
    placeholderData: keepPreviousData,
  });

/** The key prefix of all license lists, with any filter. */
export const LICENSE_LISTS = ['licenses', 'list'] as const;

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

export const seatHistoryQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['licenses', 'seat-history', id],
    queryFn: ({ pageParam }) =>
      call(
        api.v1.licenses[':id']['seat-history'].$get({
          param: { id },
          query: { limit: PAGE, ...cursorOf(pageParam) },
        }),
      ),
    ...paged,
  });

export const activationsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['licenses', 'activations', id],
    queryFn: ({ pageParam }) =>
      call(
        api.v1.licenses[':id'].activations.$get({
          param: { id },
          query: { limit: PAGE, ...cursorOf(pageParam) },
        }),
      ),
    ...paged,
  });

const productPage = (cursor: string | null) =>
  call(api.v1.products.$get({ query: { limit: '100', ...cursorOf(cursor) } }));

/** Products, by their code. */
export const productsQuery = infiniteQueryOptions({
  queryKey: ['products', 'list'],
  queryFn: ({ pageParam }) => productPage(pageParam),
  ...paged,
});

/** All products, for a field that chooses one. An account has at most 1,000. */
export const allProductsQuery = queryOptions({
  queryKey: ['products', 'all'],
  queryFn: async () => {
    const products: Product[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof productPage>> = await productPage(cursor);
      products.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return products;
  },
});

export const productQuery = (code: string) =>
  queryOptions({
    queryKey: ['products', 'one', code],
    queryFn: () => call(api.v1.products[':code'].$get({ param: { code } })),
  });

export const apiKeysQuery = infiniteQueryOptions({
  queryKey: ['api-keys'],
  queryFn: ({ pageParam }) => call(api['api-keys'].$get({ query: { limit: PAGE, ...cursorOf(pageParam) } })),
  ...paged,
});

/** Fetches the full API key, without caching it. */
export const revealApiKey = (id: string) => call(api['api-keys'][':id'].$get({ param: { id } }));

export const fetchFullApiKey = async (id: string): Promise<string> => (await revealApiKey(id)).api_key;

export const isActiveKey = ({ expires_at }: ApiKey, nowMs: number): boolean =>
  expires_at === null || Date.parse(expires_at) > nowMs;

export const regionsQuery = queryOptions({
  queryKey: ['regions'],
  queryFn: () => call(api.regions.$get()),
});

export const billingQuery = queryOptions({
  queryKey: ['billing'],
  queryFn: () => call(api.billing.$get()),
});
