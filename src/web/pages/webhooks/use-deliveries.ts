import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { deliveriesQuery, deliveryQuery, webhooksQuery } from '../../data/queries.ts';
import { pollMs } from './poll.ts';

export const useDeliveries = (id: string) => {
  const query = useInfiniteQuery({
    ...deliveriesQuery(id),
    refetchInterval: ({ state: { data } }) => {
      const pages = data?.pages ?? [];
      // All that is shown is asked again, so the more it is the less often.
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
  useFollowedHealth(deliveries?.reduce((sum, { attempts }) => sum + attempts.length, 0));
  return { query, deliveries };
};

/** What comes of an attempt may change the endpoint's health as well. */
const useFollowedHealth = (attempts: number | undefined) => {
  const queryClient = useQueryClient();
  const before = useRef(attempts);
  useEffect(() => {
    const isNew = before.current !== undefined && before.current !== attempts;
    before.current = attempts;
    if (isNew) void queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
  }, [attempts, queryClient]);
};

/** The delivery that is open: one of the list, or one that has to be looked for beyond it; null if it is gone. */
export const useOpenDelivery = (
  id: string,
  deliveryId: string,
  { query, deliveries }: ReturnType<typeof useDeliveries>,
) => {
  const listed = deliveries?.find((delivery) => delivery.id === deliveryId);
  const sought = useQuery({
    ...deliveryQuery(id, deliveryId),
    enabled: deliveries !== undefined && !listed,
    refetchInterval: ({ state: { data } }) => (data ? pollMs([data], Date.now()) : false),
  });
  const failed = deliveries ? sought : query;
  return {
    delivery: listed ?? sought.data,
    error: listed || sought.data ? null : failed.error,
    retry: () => void failed.refetch(),
  };
};
