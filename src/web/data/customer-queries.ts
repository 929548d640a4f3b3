import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { api, call } from './client.ts';
import { cursorOf, PAGE, paged } from './queries.ts';

type CustomerPage = InferResponseType<typeof api.v1.customers.$get>;
export type MachinesPage = InferResponseType<(typeof api.v1.licenses)[':id']['activations']['$get']>;
export type CustomerBody = CustomerPage['data'][number];

/** Skips pages that are empty before the end of the list. */
const customerPage = async (
  query: { q?: string; limit: string; cursor?: string },
  signal: AbortSignal,
): Promise<CustomerPage> => {
  const page = await call(api.v1.customers.$get({ query }, { init: { signal } }));
  return page.data.length > 0 || page.next_cursor === null
    ? page
    : customerPage({ ...query, cursor: page.next_cursor }, signal);
};

/** Customers are read from licenses, and change with them. */
export const customersQuery = (q: string) =>
  infiniteQueryOptions({
    queryKey: ['licenses', 'customers', q],
    queryFn: ({ pageParam, signal }) =>
      customerPage({ limit: PAGE, ...cursorOf(pageParam), ...(q && { q }) }, signal),
    ...paged,
  });

/** The machines of several licenses, in the order of the licenses: up to a page of each. */
export const machinesQuery = (licenseIds: string[]) =>
  queryOptions({
    queryKey: ['licenses', 'machines', licenseIds],
    queryFn: () =>
      Promise.all(
        licenseIds.map((id) =>
          call(api.v1.licenses[':id'].activations.$get({ param: { id }, query: { limit: PAGE } })),
        ),
      ),
  });
