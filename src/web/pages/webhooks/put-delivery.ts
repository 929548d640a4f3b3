import type { QueryClient } from '@tanstack/react-query';
import { type Delivery, deliveriesQuery, deliveryQuery } from '../../data/queries.ts';

/** Shows a delivery as the service just answered it, and asks for the rest again. */
export const putDelivery = async (queryClient: QueryClient, id: string, delivery: Delivery) => {
  const { queryKey } = deliveriesQuery(id);
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, (before) => {
    if (!before) return before;
    const isListed = before.pages.some(({ data }) => data.some((known) => known.id === delivery.id));
    const pages = before.pages.map((page, index) => {
      const data = page.data.map((known) => (known.id === delivery.id ? delivery : known));
      return {
        ...page,
        data: index === 0 && !isListed && isNewest(delivery, data) ? [delivery, ...data] : data,
      };
    });
    return { ...before, pages };
  });
  queryClient.setQueryData(deliveryQuery(id, delivery.id).queryKey, delivery);
  void queryClient.invalidateQueries({ queryKey });
};

const isNewest = ({ id }: Delivery, [first]: Delivery[]) => first === undefined || id > first.id;
