// What a list can be filtered by, as conditions on a license, and as the indexes that find its licenses.
import { and, type SQL, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { DAY_MS, isoDate } from '../shared/rules/dates.ts';
import { readSearch } from '../shared/rules/search-text.ts';
import { firstIdAt } from '../shared/text/ids.ts';
import type { listLicensesQuery } from './list-query.ts';
import type { SortedField } from './sorts.ts';
import { hasState, newestInState } from './states.ts';
import { mayMatch, newestByRarestTrigram } from './trigrams.ts';

export type ListInput = z.output<typeof listLicensesQuery>;

const given = <T>(value: T | undefined, condition: (value: T) => SQL): SQL[] =>
  value === undefined ? [] : [condition(value)];

/** Compares texts, so that `5` is both a number and a text. */
const hasEntry = ([name, value]: [string, string]) => sql`EXISTS (
  SELECT 1 FROM json_each(metadata)
  WHERE key = ${name} AND CAST(iif(type IN ('true', 'false'), type, value) AS TEXT) = ${value})`;

/** The conditions that a license has to fulfill. A search text is compared by `isMatch` besides. */
export const conditionsOf = (accountId: string, input: ListInput): SQL[] => [
  ...given(input.customer_email, (email) => sql`lower(customer_email) = ${email}`),
  ...given(input.product, (product) => sql`product = ${product}`),
  ...Object.entries(input.metadata ?? {}).map(hasEntry),
  ...given(input.expires_at, () => sql`expires_at IS NULL`),
  ...given(input.expires_before, (date) => sql`expires_at < ${date}`),
  ...given(input.expires_after, (date) => sql`expires_at > ${date}`),
  ...given(input.created_before, (ms) => sql`created_at < ${ms}`),
  ...given(input.created_after, (ms) => sql`created_at > ${ms}`),
  ...given(input.status, (status) => hasState(accountId, status)),
  ...given(input.q || undefined, (q) => mayMatch(readSearch(q))),
];

/** The filters by the field that sorts the list, as far as its index can use them. */
export const rangeOf = (field: SortedField, input: ListInput): SQL | undefined => {
  const { customer_email, created_after, expires_before, expires_after, status } = input;
  const ends = [expires_before, status === 'expired' ? isoDate(Date.now()) : undefined];
  const ranges = {
    // An id is made when its license is, by a clock that may be wrong. An earlier release gave imports the ids of their day.
    created_at: given(created_after, (ms) => sql`id >= ${firstIdAt('lic', ms - DAY_MS)}`),
    expires_at: [
      ...given(ends.filter((end) => end !== undefined).toSorted()[0], (end) => sql`expires_at < ${end}`),
      ...given(expires_after, (date) => sql`expires_at > ${date}`),
    ],
    customer_email: given(customer_email, (email) => sql`lower(customer_email) = ${email}`),
  };
  return and(...ranges[field]);
};

/** Subqueries of the licenses that an index finds by one of the filters, up to `count`. */
export const sourcesOf = (accountId: string, input: ListInput, count: number): SQL[] => [
  ...given(
    input.customer_email,
    (email) => sql`SELECT seq FROM licenses INDEXED BY licenses_by_email
      WHERE account_id = ${accountId} AND lower(customer_email) = ${email} LIMIT ${count}`,
  ),
  ...given(
    input.product,
    (product) => sql`SELECT seq FROM licenses INDEXED BY licenses_by_product
      WHERE account_id = ${accountId} AND product = ${product} LIMIT ${count}`,
  ),
  ...given(input.q || undefined, (q) =>
    newestByRarestTrigram({ accountId, before: undefined }, readSearch(q), count),
  ),
  ...given(input.status, (status) => newestInState(accountId, status, undefined, count)),
];
