// Licenses by their machines, which only the account's gate knows: it proposes licenses in order of creation, and D1 compares
// them with the other filters.
import { type SQL, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { invalidField } from '../shared/app-error.ts';
import { gateOf } from '../shared/objects/address.ts';
import { MAX_CANDIDATES } from './candidates.ts';
import type { ListInput } from './filters.ts';
import { admitSearch } from './search-pace.ts';
import type { FoundPage } from './search.ts';
import { pageAmong, type SortedInput } from './sorted-list.ts';
import { readLicenseId } from './sorts.ts';

export const isByMachines = ({ seats, machine }: ListInput): boolean =>
  seats !== undefined || machine !== undefined;

/** A license's own limit goes before its product's. A text is no limit, and compares as more than every number. */
const SEAT_LIMIT = sql`coalesce(
  licenses.terms ->> 'max_activations',
  (SELECT terms ->> 'max_activations' FROM products
    WHERE products.account_id = licenses.account_id AND code = licenses.product)
)`;

const candidatesOf = ({ accountId }: Ctx, { seats }: ListInput, found: unknown[]): SQL => sql`
  SELECT licenses.seq FROM json_each(${JSON.stringify(found)})
  CROSS JOIN licenses INDEXED BY licenses_by_id
    ON licenses.account_id = ${accountId} AND licenses.id = json_each.value ->> 0
  WHERE ${seats === 'full' ? sql`json_each.value ->> 1 >= ${SEAT_LIMIT}` : sql`true`}
  LIMIT ${found.length}`;

/** Compares so many licenses at most that the gate proposes. */
const readOn = async (ctx: Ctx, input: SortedInput, size: number): Promise<FoundPage> => {
  const { licenses, continuesAfter } = await gateOf(ctx.env, ctx.accountId).findLicenses({
    machine: input.machine ?? null,
    after: readLicenseId(input.cursor),
    isDescending: input.sort === '-created_at',
    limit: size,
  });
  const page = await pageAmong(ctx, input, candidatesOf(ctx, input, licenses));
  return { rows: page.rows, next_cursor: page.next_cursor ?? continuesAfter };
};

export const listByMachines = async (ctx: Ctx, listed: ListInput): Promise<FoundPage> => {
  const { seats, machine, sort = '-created_at', limit } = listed;
  if (seats !== undefined && machine !== undefined)
    throw invalidField('machine', 'can’t be combined with seats');
  if (sort !== 'created_at' && sort !== '-created_at')
    throw invalidField('sort', 'must be created_at or -created_at if seats or machine is set');
  const input = { ...listed, sort };
  const page = await readOn(ctx, input, limit + 1);
  if (page.next_cursor === null || page.rows.length === limit) return page;
  await admitSearch(ctx, MAX_CANDIDATES);
  const rest = { ...input, cursor: page.next_cursor, limit: limit - page.rows.length };
  const { rows, next_cursor } = await readOn(ctx, rest, MAX_CANDIDATES - 1);
  return { rows: [...page.rows, ...rows], next_cursor };
};
