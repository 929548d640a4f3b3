import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { licenses } from '../db/schema.ts';
import { normalizeTypedKey } from '../shared/rules/license-key.ts';
import type { LicenseStatus } from '../shared/rules/licenses.ts';
import { toPage } from '../shared/schemas/lists.ts';
import { isByMachines, listByMachines } from './by-machines.ts';
import { conditionsOf, type ListInput } from './filters.ts';
import { toLicense } from './schemas.ts';
import { isCustomer, searchLicenses } from './search.ts';
import { beforeCursor, seqCursor } from './seq-cursor.ts';
import { listSorted } from './sorted-list.ts';
import type { Sort } from './sorts.ts';
import { newestInState } from './states.ts';

const listState = async ({ db, accountId }: Ctx, { limit, cursor }: ListInput, state: LicenseStatus) => {
  const seqs = newestInState(accountId, state, beforeCursor(cursor), limit + 1);
  const rows = await db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(sql`${licenses.seq} IN (${seqs})`)
    .orderBy(desc(licenses.seq));
  return toPage(rows, limit, toLicense, seqCursor);
};

/** Looks up a complete license key, which is much cheaper than searching for it. */
const findByKey = ({ db, accountId }: Ctx, input: ListInput, licenseKey: string) =>
  db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(
      and(
        eq(licenses.accountId, accountId),
        eq(licenses.licenseKey, licenseKey),
        ...conditionsOf(accountId, { ...input, q: undefined }),
      ),
    );

/** Whether the list has no more than a search text and a status, which have orders and indexes of their own. */
const isPlain = ({ q, status, limit: _limit, cursor: _cursor, ...others }: ListInput): boolean =>
  (q !== undefined || (status !== undefined && status !== 'expired')) &&
  Object.values(others).every((value) => value === undefined);

const sortOf = ({ sort, status, expires_at }: ListInput): Sort => {
  const order = sort ?? (status === 'expired' ? '-expires_at' : '-created_at');
  // Licenses that never expire have no other order by expiry, and no index that skips those that do.
  return expires_at === 'never' ? (order.replace('expires_at', 'created_at') as Sort) : order;
};

export const listLicenses = async (ctx: Ctx, { q: text, ...input }: ListInput) => {
  const q = text || undefined;
  const { status, limit, cursor } = input;
  if (isByMachines(input)) {
    const { rows, next_cursor } = await listByMachines(ctx, { ...input, q });
    return { data: rows.map(toLicense), next_cursor };
  }
  const licenseKey = q && cursor === undefined ? normalizeTypedKey(q) : null;
  const exactMatch = licenseKey ? await findByKey(ctx, input, licenseKey) : [];
  if (exactMatch.length > 0) return toPage(exactMatch, limit, toLicense);
  if (isPlain({ ...input, q })) {
    if (q) {
      const page = await searchLicenses(ctx, { q, status, limit, before: beforeCursor(cursor) });
      return { data: page.rows.map(toLicense), next_cursor: page.next_cursor };
    }
    if (status) return listState(ctx, input, status);
  }
  const sort = sortOf(input);
  const isOneCustomer = q && input.customer_email === undefined && (await isCustomer(ctx, q));
  return listSorted(
    ctx,
    isOneCustomer ? { ...input, sort, customer_email: q.toLowerCase() } : { ...input, sort, q },
  );
};
