import { MutationCache, type Query, QueryClient, type QueryFilters } from '@tanstack/react-query';
import { ApiError } from './error.ts';
import type { QueryRoot } from './queries.ts';

declare module '@tanstack/react-query' {
  interface Register {
    queryKey: readonly [QueryRoot, ...unknown[]];
    mutationMeta: {
      /** The queries whose data the mutation may change, by the first part of their key. */
      invalidates?: readonly QueryRoot[];
    };
  }
}

const MAX_RETRIES = 2;

const retryDelay = (failures: number, error: unknown): number =>
  (error instanceof ApiError ? error.retryAfterMs : null) ?? 500 * 2 ** failures;

/** Whether somebody waits for a query's first data, or for the next page of a list. One that fails is rather fetched again. */
const isAwaited = ({ state }: Query) =>
  state.fetchStatus === 'fetching' &&
  state.fetchFailureCount === 0 &&
  (state.data === undefined || state.fetchMeta?.fetchMore !== undefined);

/**
 * Fetches queries again. A response that is still on its way may be older than the change, so it is dropped, unless somebody
 * waits for it: then it comes first, because changes may be more frequent than responses.
 */
export const refetch = async (filters: QueryFilters): Promise<void> => {
  const fetchAgain = async (query: Query) => {
    // The end of the session removes a query that is being fetched, which has no promise any more.
    while (query.promise && isAwaited(query)) await query.promise.catch(() => undefined);
    const only = { predicate: (other: Query) => other === query };
    await queryClient.cancelQueries(only);
    await queryClient.invalidateQueries(only);
  };
  await Promise.all(queryClient.getQueryCache().findAll(filters).map(fetchAgain));
};

export const queryClient: QueryClient = new QueryClient({
  mutationCache: new MutationCache({
    onSettled: async (_data, error, _variables, _context, { meta }) => {
      const refetched = (meta?.invalidates ?? []).map((root) => refetch({ queryKey: [root] }));
      // A mutation stays pending until the page shows its result. An error is shown immediately, but also invalidates
      // queries, because a mutation whose response was lost may have been applied.
      if (!error) await Promise.all(refetched);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < MAX_RETRIES && error instanceof ApiError && error.isTransient,
      retryDelay,
    },
    mutations: {
      retry: (failures, error) => failures < MAX_RETRIES && error instanceof ApiError && error.isTooFast,
      retryDelay,
      // Offline, a mutation fails immediately instead of being sent later without notice.
      networkMode: 'always',
      // Responses may contain secrets, so they are dropped soon after their component unmounts.
      gcTime: 1_000,
    },
  },
});
