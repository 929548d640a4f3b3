// The lists of licenses: what they can be narrowed down by, and their pages.
import { infiniteQueryOptions } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { addDays, isoDate } from '../../shared/rules/dates.ts';
import { api, call } from './client.ts';
import { ApiError } from './error.ts';
import { type Expiry, LICENSE_SORTS, type LicenseFilter, type LicenseSort } from './license-filter.ts';
import { cursorOf, LICENSE_LISTS, type LicenseBody, PAGE, paged } from './queries.ts';

const daysFrom = (first: string, last: string) => ({
  expires_after: addDays(first, -1),
  expires_before: addDays(last, 1),
});

interface ExpiryQuery {
  expires_at?: 'never';
  expires_after?: string;
  expires_before?: string;
}

const EXPIRY_QUERIES: Record<Expiry, (today: string) => ExpiryQuery> = {
  'next-7-days': (today) => daysFrom(today, addDays(today, 7)),
  'next-30-days': (today) => daysFrom(today, addDays(today, 30)),
  'last-30-days': (today) => daysFrom(addDays(today, -30), addDays(today, -1)),
  never: () => ({ expires_at: 'never' }),
};

/** Seats and machines are found in order of creation only. */
export const sortsOf = ({ seats, machine }: LicenseFilter): readonly LicenseSort[] =>
  seats || machine ? ['created_at'] : LICENSE_SORTS;

/** Returns the parameters of the API for a filter. Products and customers are compared as a whole, so that no other is found. */
const toQuery = (filter: LicenseFilter) => {
  const { q, status, product, customer, expiry, seats, machine, sort } = filter;
  return {
    ...(q?.trim() && { q: q.trim() }),
    ...(status && { status }),
    ...(product && { product }),
    ...(customer && { customer_email: customer }),
    ...(expiry && EXPIRY_QUERIES[expiry](isoDate(Date.now()))),
    ...(machine ? { machine } : seats && { seats }),
    ...(sort && sortsOf(filter).includes(sort) && { sort }),
  };
};

type LicensePage = InferResponseType<typeof api.v1.licenses.$get>;
type PageQuery = ReturnType<typeof toQuery> & { limit: string; cursor?: string };

const getPage = (query: PageQuery, signal: AbortSignal): Promise<LicensePage> =>
  call(api.v1.licenses.$get({ query }, { init: { signal } }));

/** Fetches a page of licenses. A page of a search can be empty before the end of the list; it is skipped. */
export const licensePage = async (query: PageQuery, signal: AbortSignal): Promise<LicensePage> => {
  const page = await getPage(query, signal);
  return page.data.length > 0 || page.next_cursor === null
    ? page
    : licensePage({ ...query, cursor: page.next_cursor }, signal);
};

export const licensesQuery = (filter: LicenseFilter) => {
  const query = toQuery(filter);
  return infiniteQueryOptions({
    queryKey: [...LICENSE_LISTS, query],
    queryFn: ({ pageParam, signal }) =>
      licensePage({ limit: PAGE, ...cursorOf(pageParam), ...query }, signal),
    ...paged,
  });
};

const LARGEST_PAGE = '100';
const MAX_ATTEMPTS = 10;

/** Waits as long as the service asks for. Throws other errors. */
const waitFor = async (error: unknown, attempt: number, signal: AbortSignal) => {
  const isTransient = error instanceof ApiError && (error.isTransient || error.status === 429);
  if (!isTransient || attempt === MAX_ATTEMPTS) throw error;
  await new Promise((resolve) => setTimeout(resolve, error.retryAfterMs ?? 1_000));
  signal.throwIfAborted();
};

const getPageAtPace = async (query: PageQuery, signal: AbortSignal): Promise<LicensePage> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await getPage(query, signal);
    } catch (error) {
      await waitFor(error, attempt, signal);
    }
  }
};

/** Reads all licenses that match, page by page, at the service's pace. */
export const readMatching = async function* (
  filter: LicenseFilter,
  signal: AbortSignal,
): AsyncGenerator<LicenseBody[]> {
  let cursor: string | null = null;
  do {
    const query: PageQuery = { limit: LARGEST_PAGE, ...cursorOf(cursor), ...toQuery(filter) };
    const page: LicensePage = await getPageAtPace(query, signal);
    yield page.data;
    cursor = page.next_cursor;
  } while (cursor !== null);
};
