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
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core';
import type * as z from 'zod';
import { licenses } from '../db/schema.ts';
import type { LicenseState } from '../gate/verdict.ts';
import type { Ctx } from '../http/context.ts';
import { toPage } from '../http/lists.ts';
import { addDays, isoDate } from '../shared/clock.ts';
import { type listLicensesQuery, toLicense } from './schemas.ts';

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

const phrase = (text: string) => `"${text.replaceAll('"', '""')}"`;

/** The index knows three characters in a row; two marks before each field stand for its beginning (see the migration). */
const matchQuery = (accountId: string, q: string) => {
  const words = Array.from(q).length < 3 ? `\u0002\u0002${q}` : q;
  return `account : ${phrase(accountId.slice(-6))} AND words : ${phrase(words)}`;
};

const page = ({ db, accountId }: Ctx, { limit, cursor, status }: ListInput) =>
  db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(
      and(
        eq(licenses.accountId, accountId),
        status && inState(status),
        cursor === undefined ? undefined : lt(licenses.id, cursor),
      ),
    )
    .orderBy(desc(licenses.id))
    .limit(limit + 1);

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

/** A migration makes it: drizzle has no words for such tables, so only its row number is known here. */
const licenseSearch = sqliteTable('license_search', { rowid: integer().notNull() });

/** By the search index, whose rows are in the order of `seq`. */
const search = ({ db, accountId }: Ctx, { limit, cursor, status }: ListInput, q: string) =>
  db
    .select(getTableColumns(licenses))
    .from(licenseSearch)
    .crossJoin(licenses)
    .where(
      and(
        sql`license_search MATCH ${matchQuery(accountId, q)}`,
        eq(licenses.seq, licenseSearch.rowid),
        cursor === undefined
          ? undefined
          : sql`license_search.rowid < (SELECT seq FROM licenses WHERE account_id = ${accountId} AND id = ${cursor})`,
        eq(licenses.accountId, accountId),
        status && inState(status),
      ),
    )
    .orderBy(desc(licenseSearch.rowid))
    .limit(limit + 1);

const licenseQuery = (ctx: Ctx, input: ListInput) => {
  if (input.q) return search(ctx, input, input.q);
  return input.status === 'expired' ? expiredPage(ctx, input) : page(ctx, input);
};

export const listLicenses = async (ctx: Ctx, input: ListInput) =>
  toPage(await licenseQuery(ctx, input), input.limit, toLicense);
