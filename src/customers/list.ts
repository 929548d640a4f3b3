// Customers are the email addresses that licenses have: no table has them. A list goes from one address to the next in the index
// by address, whose order is also that of a customer's licenses, so that the newest one is found with a lookup.
import { Buffer } from 'node:buffer';
import { getTableColumns, type SQL, sql, Subquery } from 'drizzle-orm';
import type * as z from 'zod';
import type { Ctx } from '../db/ctx.ts';
import { type LicenseRow, licenses } from '../db/schema.ts';
import { searchLicenses } from '../licenses/search.ts';
import { beforeCursor } from '../licenses/seq-cursor.ts';
import { invalidField } from '../shared/app-error.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { byField, columnOf, PERSONAL_FIELDS } from '../shared/rules/license-fields.ts';
import { isNobodys, MAX_COUNTED } from '../shared/rules/licenses.ts';
import { matchesSearch, type SearchText } from '../shared/rules/search-text.ts';
import { NOT_A_CURSOR } from '../shared/schemas/lists.ts';
import type { customerBody, listCustomersQuery } from './schemas.ts';

type ListInput = z.output<typeof listCustomersQuery>;
type Customer = z.output<typeof customerBody>;

interface Page {
  /** The newest license of each customer. */
  rows: LicenseRow[];
  next_cursor: string | null;
}

/** As SQLite's lower() does, which converts only ASCII. */
const emailOf = ({ customerEmail }: LicenseRow): string =>
  customerEmail.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

const readCursor = (cursor: string | undefined): string => {
  const email = Buffer.from(cursor ?? '', 'base64url').toString();
  if (cursor !== undefined && !email.includes('@')) throw invalidField('cursor', NOT_A_CURSOR);
  return email;
};

/** Reads two entries of the index and a license for each customer. */
const pageByEmail = async ({ db, accountId }: Ctx, { limit, cursor }: ListInput): Promise<Page> => {
  const emailAfter = (email: unknown) => sql`(
    SELECT lower(customer_email) FROM licenses INDEXED BY licenses_by_email
    WHERE account_id = ${accountId} AND lower(customer_email) > ${email} ORDER BY lower(customer_email) LIMIT 1)`;
  // CROSS JOIN keeps the customers in their order.
  const newest = sql`
    WITH RECURSIVE customers(email) AS (
      SELECT ${emailAfter(readCursor(cursor))}
      UNION ALL SELECT ${emailAfter(sql`email`)} FROM customers WHERE email IS NOT NULL LIMIT ${limit + 1}
    )
    SELECT licenses.* FROM customers CROSS JOIN licenses ON licenses.seq = (
      SELECT seq FROM licenses INDEXED BY licenses_by_email
      WHERE account_id = ${accountId} AND lower(customer_email) = email ORDER BY seq DESC LIMIT 1
    )`;
  const found = await db.select(getTableColumns(licenses)).from(new Subquery(newest, {}, 'licenses'));
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, next_cursor: last ? Buffer.from(emailOf(last)).toString('base64url') : null };
};

const PERSONAL_COLUMNS = PERSONAL_FIELDS.map(columnOf);

const isNewestOfCustomer = sql`NOT EXISTS (
  SELECT 1 FROM licenses AS newer INDEXED BY licenses_by_email
  WHERE newer.account_id = licenses.account_id AND lower(newer.customer_email) = lower(licenses.customer_email)
    AND newer.seq > licenses.seq)`;

const hasCustomer = (license: LicenseRow, search: SearchText) =>
  matchesSearch([license.customerEmail, ...PERSONAL_COLUMNS.map((column) => license[column])], search);

interface Counts {
  licenses: number;
  purchases: number;
}

/** Counts what each customer has, by entries of two indexes. */
const countByEmail = async ({ db, accountId }: Ctx, rows: LicenseRow[]): Promise<Map<string, Counts>> => {
  const count = (source: SQL) => sql`(SELECT count(*) FROM (
    SELECT 1 FROM ${source}
    WHERE account_id = ${accountId} AND lower(customer_email) = value LIMIT ${MAX_COUNTED}))`;
  const counted = await db.all<Counts & { email: string }>(sql`
    SELECT value AS email,
      ${count(sql`licenses INDEXED BY licenses_by_email`)} AS licenses,
      ${count(sql`purchases INDEXED BY purchases_by_email`)} AS purchases
    FROM json_each(${JSON.stringify(rows.map(emailOf))})`);
  return new Map(counted.map(({ email, ...counts }) => [email, counts]));
};

export const listCustomers = async (ctx: Ctx, input: ListInput) => {
  const { q, limit, cursor } = input;
  const { rows, next_cursor } = q
    ? await searchLicenses(ctx, {
        q,
        status: undefined,
        before: beforeCursor(cursor),
        limit,
        condition: isNewestOfCustomer,
        matches: hasCustomer,
      })
    : await pageByEmail(ctx, input);
  const known = rows.filter(({ customerEmail }) => !isNobodys(customerEmail));
  const counts = await countByEmail(ctx, known);
  const data = known.map((row): Customer => ({
    customer_email: row.customerEmail,
    ...byField(PERSONAL_FIELDS, (field) => row[columnOf(field)]),
    ...(counts.get(emailOf(row)) ?? { licenses: 0, purchases: 0 }),
    last_license_at: isoTime(row.createdAt),
  }));
  return { data, next_cursor };
};
