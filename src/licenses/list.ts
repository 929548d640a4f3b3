import {
  and,
  desc,
  eq,
  getTableColumns,
  gte,
  isNotNull,
  isNull,
  lt,
  lte,
  or,
  type SQL,
  sql,
} from 'drizzle-orm';
import type * as z from 'zod';
import { licenses } from '../db/schema.ts';
import type { LicenseState } from '../shared/rules/licenses.ts';
import type { Ctx } from '../db/ctx.ts';
import { toPage } from '../shared/pages.ts';
import { addDays, isoDate } from '../shared/rules/dates.ts';
import { normalizeTypedKey } from '../shared/rules/license-key.ts';
import { type listLicensesQuery, toLicense } from './schemas.ts';
import { matchingSeqs } from './search.ts';

type ListInput = z.output<typeof listLicensesQuery>;

/** Rare statuses, which narrow a search down more than its text does. */
const IS_RARE: Record<LicenseState, boolean> = {
  active: false,
  expired: false,
  suspended: true,
  revoked: true,
};

/** The condition of `licenses_by_expiry`. With a bound parameter, the planner wouldn't use that partial index. */
const canExpire = and(sql`${licenses.status} = 'active'`, isNotNull(licenses.expiresAt));

const hasState = (state: LicenseState): SQL | undefined => {
  const today = isoDate(Date.now());
  if (state === 'active') {
    return and(eq(licenses.status, 'active'), or(isNull(licenses.expiresAt), gte(licenses.expiresAt, today)));
  }
  return state === 'expired' ? and(canExpire, lt(licenses.expiresAt, today)) : eq(licenses.status, state);
};

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

/** Sorted by `seq`, the order of the index `licenses_by_status`. */
const statePage = ({ db, accountId }: Ctx, { limit, cursor }: ListInput, state: LicenseState) => {
  const before = cursorSeq(accountId, cursor);
  return db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(and(eq(licenses.accountId, accountId), hasState(state), before && lt(licenses.seq, before)))
    .orderBy(desc(licenses.seq))
    .limit(limit + 1);
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

const searchPage = ({ db, accountId }: Ctx, { limit, cursor, status }: ListInput, q: string) => {
  const filter = and(eq(licenses.accountId, accountId), status && hasState(status));
  const isRareStatus = status !== undefined && IS_RARE[status];
  const before = cursorSeq(accountId, cursor);
  const seqs = matchingSeqs({ accountId, q, filter, isRareStatus, before, limit: limit + 1 });
  return db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(sql`${licenses.seq} IN (${seqs})`)
    .orderBy(desc(licenses.seq));
};

/** Looks up a complete license key, which is much cheaper than searching for it. */
const findByKey = ({ db, accountId }: Ctx, { status }: ListInput, licenseKey: string) =>
  db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(
      and(eq(licenses.accountId, accountId), eq(licenses.licenseKey, licenseKey), status && hasState(status)),
    );

const pageQuery = (ctx: Ctx, input: ListInput) => {
  const { q, status } = input;
  if (q) return searchPage(ctx, input, q);
  if (status === 'expired') return expiredPage(ctx, input);
  return status ? statePage(ctx, input, status) : newestPage(ctx, input);
};

export const listLicenses = async (ctx: Ctx, input: ListInput) => {
  const licenseKey = input.cursor === undefined ? normalizeTypedKey(input.q ?? '') : null;
  const exactMatch = licenseKey === null ? [] : await findByKey(ctx, input, licenseKey);
  return toPage(exactMatch.length > 0 ? exactMatch : await pageQuery(ctx, input), input.limit, toLicense);
};
