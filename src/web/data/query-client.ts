import { MutationCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './error.ts';
import type { QueryRoot } from './queries.ts';

declare module '@tanstack/react-query' {
  interface Register {
    queryKey: readonly [QueryRoot, ...unknown[]];
    mutationMeta: {
      /** The queries that the write may have changed, by the first part of their key. */
      invalidates?: readonly QueryRoot[];
    };
  }
}

const MAX_RETRIES = 2;

export const queryClient: QueryClient = new QueryClient({
  mutationCache: new MutationCache({
    onSettled: async (_data, error, _variables, _context, { meta }) => {
      const refetched = (meta?.invalidates ?? []).map((root) =>
        queryClient.invalidateQueries({ queryKey: [root] }),
      );
      // A write stays pending until the page shows its result. An error shows at once; it invalidates too, because a
      // write whose response got lost may have been applied.
      if (!error) await Promise.all(refetched);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < MAX_RETRIES && error instanceof ApiError && error.isTransient,
      retryDelay: (failures) => 500 * 2 ** failures,
    },
    mutations: {
      // Offline, a write fails at once instead of being sent unnoticed later.
      networkMode: 'always',
      // Responses with secrets don't outlive the component that shows them for long.
      gcTime: 1_000,
    },
  },
});
