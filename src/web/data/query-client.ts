import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './error.ts';

const MAX_RETRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < MAX_RETRIES && error instanceof ApiError && error.isPassing,
      retryDelay: (failures) => 500 * 2 ** failures,
    },
  },
});
