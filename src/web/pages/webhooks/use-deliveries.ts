import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import {
  type DeliveryBody,
  deliveriesQuery,
  deliveryQuery,
  webhooksQuery,
} from '../../data/webhook-queries.ts';

const FAST_POLL_MS = 2_500;
const SLOW_POLL_MS = 5_000;

const msToNextAttempt = ({ status, next_attempt_at: next }: DeliveryBody, nowMs: number): number => {
  if (status !== 'pending') return SLOW_POLL_MS;
  return next === null ? 0 : Date.parse(next) - nowMs;
};

/** Returns the polling interval, which is shorter while an attempt is in progress or due. */
const pollMs = (deliveries: DeliveryBody[], nowMs: number): number =>
  Math.max(
    FAST_POLL_MS,
    Math.min(SLOW_POLL_MS, ...deliveries.map((delivery) => msToNextAttempt(delivery, nowMs))),
  );

export const useDeliveries = (id: string) => {
  const query = useInfiniteQuery({
    ...deliveriesQuery(id),
    refetchInterval: ({ state: { data } }) => {
      const pages = data?.pages ?? [];
      // A refetch loads every page, so the interval grows with the number of pages.
      return (
        pages.length *
          pollMs(
            pages.flatMap((page) => page.data),
            Date.now(),
          ) || false
      );
    },
  });
  const deliveries = query.data?.pages.flatMap(({ data }) => data);
  useHealthRefresh(deliveries?.reduce((sum, { attempts }) => sum + attempts.length, 0));
  return { query, deliveries };
};

/** Refetches the webhooks after an attempt, because it may have changed their health. */
const useHealthRefresh = (attempts: number | undefined) => {
  const queryClient = useQueryClient();
  const previous = useRef(attempts);
  useEffect(() => {
    const isNew = previous.current !== undefined && previous.current !== attempts;
    previous.current = attempts;
    if (isNew) void queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
  }, [attempts, queryClient]);
};

/** Returns the open delivery, which is fetched if the list doesn't have it. It is null if it doesn't exist. */
export const useOpenDelivery = (
  id: string,
  deliveryId: string,
  { query, deliveries }: ReturnType<typeof useDeliveries>,
) => {
  const listed = deliveries?.find((delivery) => delivery.id === deliveryId);
  const fetched = useQuery({
    ...deliveryQuery(id, deliveryId),
    enabled: deliveries !== undefined && !listed,
    refetchInterval: ({ state: { data } }) => (data ? pollMs([data], Date.now()) : false),
  });
  const failed = deliveries ? fetched : query;
  return {
    delivery: listed ?? fetched.data,
    error: listed || fetched.data ? null : failed.error,
    retry: () => void failed.refetch(),
  };
};
