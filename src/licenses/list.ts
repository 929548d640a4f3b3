import { and, desc, eq, getTableColumns, isNotNull, lt, lte, sql } from 'drizzle-orm';
import type * as z from 'zod';
import type { Ctx } from '../db/ctx.ts';
import { licenses } from '../db/schema.ts';
import { addDays, isoDate } from '../shared/rules/dates.ts';
import { normalizeTypedKey } from '../shared/rules/license-key.ts';
import type { LicenseStatus } from '../shared/rules/licenses.ts';
import { toPage } from '../shared/schemas/lists.ts';
import { type listLicensesQuery, toLicense } from './schemas.ts';
import { searchLicenses } from './search.ts';
import { hasState, newestInState } from './states.ts';

type ListInput = z.output<typeof listLicensesQuery>;

/** The condition of `licenses_by_expiry`. With a bound parameter, the planner wouldn't use that partial index. */
const canExpire = and(sql`${licenses.status} = 'active'`, isNotNull(licenses.expiresAt));

const cursorSeq = (accountId: string, cursor: string | undefined) =>
  cursor === undefined
    ? undefined
    : sql`(SELECT seq FROM licenses WHERE account_id = ${accountId} AND id = ${cursor})`;

const newestPage = ({ db, accountId }: Ctx, { limit, cursor }: ListInput) =>
  db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(and(eq(licenses.accountId, accountId), cursor === undefined ? undefined : lt(licenses.id, cursor)))
    .orderBy(desc(licenses.id))
    .limit(limit + 1);

const statePage = ({ db, accountId }: Ctx, { limit, cursor }: ListInput, state: LicenseStatus) => {
  const seqs = newestInState(accountId, state, cursorSeq(accountId, cursor), limit + 1);
  return db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(sql`${licenses.seq} IN (${seqs})`)
    .orderBy(desc(licenses.seq));
};

/** Sorted by expiry, latest first, which is the order of the index `licenses_by_expiry`. */
const expiredPage = ({ db, accountId }: Ctx, { limit, cursor }: ListInput) => {
  const fromCursor = sql`FROM licenses WHERE account_id = ${accountId} AND id = ${cursor}`;
  const yesterday = addDays(isoDate(Date.now()), -1);
  // A single upper bound on the expiry lets the index scan start where the previous page ended.
  const maxExpiry =
    cursor === undefined ? yesterday : sql`min(${yesterday}, (SELECT expires_at ${fromCursor}))`;
  const isAfterCursor =
    cursor === undefined
      ? undefined
      : sql`(${licenses.expiresAt}, ${licenses.id}) < (SELECT expires_at, id ${fromCursor})`;
  return db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(
      and(eq(licenses.accountId, accountId), canExpire, lte(licenses.expiresAt, maxExpiry), isAfterCursor),
    )
    .orderBy(desc(licenses.expiresAt), desc(licenses.id))
    .limit(limit + 1);
};

/** Looks up a complete license key, which is much cheaper than searching for it. */
const findByKey = ({ db, accountId }: Ctx, { status }: ListInput, licenseKey: string) =>
  db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(
      and(
        eq(licenses.accountId, accountId),
        eq(licenses.licenseKey, licenseKey),
        status && hasState(accountId, status),
      ),
    );

const pageQuery = (ctx: Ctx, input: ListInput) => {
  const { status } = input;
  if (status === 'expired') return expiredPage(ctx, input);
  return status ? statePage(ctx, input, status) : newestPage(ctx, input);
};

export const listLicenses = async (ctx: Ctx, input: ListInput) => {
  const { q, status, limit, cursor } = input;
  if (!q) return toPage(await pageQuery(ctx, input), limit, toLicense);
  const licenseKey = cursor === undefined ? normalizeTypedKey(q) : null;
  const exactMatch = licenseKey === null ? [] : await findByKey(ctx, input, licenseKey);
  if (exactMatch.length > 0) return toPage(exactMatch, limit, toLicense);
  return searchLicenses(ctx, { q, status, limit, before: cursorSeq(ctx.accountId, cursor) });
};
