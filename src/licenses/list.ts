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
import { found } from './search.ts';

type ListInput = z.output<typeof listLicensesQuery>;

/** What the index of expiry holds, said as it says it: a bound parameter would hide that from the planner. */
const hasExpiry = and(sql`${licenses.status} = 'active'`, isNotNull(licenses.expiresAt));

const inState = (state: LicenseState): SQL | undefined => {
  const today = isoDate(Date.now());
  if (state === 'active') {
    return and(eq(licenses.status, 'active'), or(isNull(licenses.expiresAt), gte(licenses.expiresAt, today)));
  }
  return state === 'expired' ? and(hasExpiry, lt(licenses.expiresAt, today)) : eq(licenses.status, state);
};

const seqOf = (accountId: string, cursor: string | undefined) =>
  cursor === undefined
    ? undefined
    : sql`(SELECT seq FROM licenses WHERE account_id = ${accountId} AND id = ${cursor})`;

const page = ({ db, accountId }: Ctx, { limit, cursor }: ListInput) =>
  db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(and(eq(licenses.accountId, accountId), cursor === undefined ? undefined : lt(licenses.id, cursor)))
    .orderBy(desc(licenses.id))
    .limit(limit + 1);

/** In the order of `seq`, which the index of states has. */
const statePage = ({ db, accountId }: Ctx, { limit, cursor }: ListInput, status: LicenseState) => {
  const before = seqOf(accountId, cursor);
  return db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(and(eq(licenses.accountId, accountId), inState(status), before && lt(licenses.seq, before)))
    .orderBy(desc(licenses.seq))
    .limit(limit + 1);
};

/** Those that expired last come first, which is the order that their index has. */
const expiredPage = ({ db, accountId }: Ctx, { limit, cursor }: ListInput) => {
  const of = sql`FROM licenses WHERE account_id = ${accountId} AND id = ${cursor}`;
  const yesterday = addDays(isoDate(Date.now()), -1);
  // One upper bound, so that the index starts where the page before ended.
  const latest = cursor === undefined ? yesterday : sql`min(${yesterday}, (SELECT expires_at ${of}))`;
  const rest =
    cursor === undefined
      ? undefined
      : sql`(${licenses.expiresAt}, ${licenses.id}) < (SELECT expires_at, id ${of})`;
  return db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(and(eq(licenses.accountId, accountId), hasExpiry, lte(licenses.expiresAt, latest), rest))
    .orderBy(desc(licenses.expiresAt), desc(licenses.id))
    .limit(limit + 1);
};

const search = ({ db, accountId }: Ctx, { limit, cursor, status }: ListInput, q: string) => {
  const filter = and(eq(licenses.accountId, accountId), status && inState(status));
  const isFew = status === 'suspended' || status === 'revoked';
  const before = seqOf(accountId, cursor);
  return db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(sql`${licenses.seq} IN (${found({ accountId, q, filter, isFew, before, limit: limit + 1 })})`)
    .orderBy(desc(licenses.seq));
};

/** A whole license key, however it is typed, is looked up: the search index would go through far more for it. */
const byKey = ({ db, accountId }: Ctx, { status }: ListInput, licenseKey: string) =>
  db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(
      and(eq(licenses.accountId, accountId), eq(licenses.licenseKey, licenseKey), status && inState(status)),
    );

const licenseQuery = (ctx: Ctx, input: ListInput) => {
  const { q, status } = input;
  if (q) return search(ctx, input, q);
  if (status === 'expired') return expiredPage(ctx, input);
  return status ? statePage(ctx, input, status) : page(ctx, input);
};

export const listLicenses = async (ctx: Ctx, input: ListInput) => {
  const licenseKey = input.cursor === undefined ? normalizeTypedKey(input.q ?? '') : null;
  const named = licenseKey === null ? [] : await byKey(ctx, input, licenseKey);
  return toPage(named.length > 0 ? named : await licenseQuery(ctx, input), input.limit, toLicense);
};
