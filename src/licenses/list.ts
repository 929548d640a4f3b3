import { and, desc, eq, getTableColumns, gte, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { licenses } from '../db/schema.ts';
import type { LicenseState } from '../gate/verdict.ts';
import type { Ctx } from '../http/context.ts';
import { toPage } from '../http/lists.ts';
import { isoDate } from '../shared/clock.ts';
import { type listLicensesQuery, toLicense } from './schemas.ts';

type ListInput = z.output<typeof listLicensesQuery>;

const inState = (state: LicenseState): SQL | undefined => {
  const today = isoDate(Date.now());
  if (state === 'active') {
    return and(eq(licenses.status, 'active'), or(isNull(licenses.expiresAt), gte(licenses.expiresAt, today)));
  }
  if (state === 'expired') {
    return and(
      sql`${licenses.status} = 'active'`,
      isNotNull(licenses.expiresAt),
      lt(licenses.expiresAt, today),
    );
  }
  return eq(licenses.status, state);
};

const phrase = (text: string) => `"${text.replaceAll('"', '""')}"`;

/** The index knows three characters in a row; two marks stand before each field (see the migration). */
const matchQuery = (accountId: string, q: string) => {
  const words = Array.from(q).length < 3 ? `~~${q}` : q;
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
const expiredPage = ({ db, accountId }: Ctx, { limit, cursor }: ListInput) =>
  db
    .select(getTableColumns(licenses))
    .from(licenses)
    .where(
      and(
        eq(licenses.accountId, accountId),
        inState('expired'),
        cursor === undefined
          ? undefined
          : sql`(expires_at, id) < (SELECT expires_at, id FROM licenses WHERE account_id = ${accountId} AND id = ${cursor})`,
      ),
    )
    .orderBy(desc(licenses.expiresAt), desc(licenses.id))
    .limit(limit + 1);

/** By the search index, whose rows are in the order of `seq`. */
const search = ({ db, accountId }: Ctx, { limit, cursor, status }: ListInput, q: string) =>
  db
    .select(getTableColumns(licenses))
    .from(sql`license_search CROSS JOIN ${licenses} ON ${licenses.seq} = license_search.rowid`)
    .where(
      and(
        sql`license_search MATCH ${matchQuery(accountId, q)}`,
        cursor === undefined
          ? undefined
          : sql`license_search.rowid < (SELECT seq FROM licenses WHERE account_id = ${accountId} AND id = ${cursor})`,
        eq(licenses.accountId, accountId),
        status && inState(status),
      ),
    )
    .orderBy(sql`license_search.rowid DESC`)
    .limit(limit + 1);

export const licenseQuery = (ctx: Ctx, input: ListInput) => {
  if (input.q) return search(ctx, input, input.q);
  return input.status === 'expired' ? expiredPage(ctx, input) : page(ctx, input);
};

export const listLicenses = async (ctx: Ctx, input: ListInput) =>
  toPage(await licenseQuery(ctx, input), input.limit, toLicense);
