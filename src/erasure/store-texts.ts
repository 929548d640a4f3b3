import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Ctx } from '../db/ctx.ts';
import { offers, productMails, purchaseLicenses, stores } from '../db/schema.ts';
import { openScrubber } from '../shared/text/scrub.ts';
import type { SpendQueries } from './find-licenses.ts';
import { changeAll, PAGE_ROWS } from './pages.ts';

// What the seller has written for customers and stores, and what was sold by it. A customer's address in them goes.

/** Columns with texts of a table, and the column after the account's in the index by which they are read. */
interface Texts {
  columns: SQLiteColumn[];
  order: SQLiteColumn;
}

const TEXTS: Texts[] = [
  {
    columns: [productMails.fromName, productMails.intro, productMails.supportUrl],
    order: productMails.product,
  },
  { columns: [stores.name], order: stores.id },
  // Its index goes on with the rows' numbers.
  { columns: [offers.terms], order: offers.accountId },
  { columns: [purchaseLicenses.offer], order: purchaseLicenses.licenseId },
];

interface Row {
  row: number;
  position: string;
  /** The columns as they were read, as SQLite writes them. */
  was: string;
  texts: Record<string, unknown>;
}

const list = (items: (SQL | SQLiteColumn)[]) => sql.join(items, sql`, `);

const fieldOf = (column: SQLiteColumn) =>
  sql`${column.name}, ${column.dataType === 'json' ? sql`json(${column})` : column}`;

const wasOf = (columns: SQLiteColumn[]) =>
  sql`json_object(${list(columns.map((column) => sql`${column.name}, ${column}`))})`;

const scrubTexts = (
  { db, accountId }: Ctx,
  email: string,
  { columns, order }: Texts,
  spend: SpendQueries,
): Promise<void> => {
  const { table } = order;
  const { scrub } = openScrubber({ email, names: [] });
  return changeAll<Row>(spend, {
    read: async (last) => {
      const rows = await db.all<Omit<Row, 'texts'> & { texts: string }>(sql`
        SELECT ${table}.rowid AS row, ${order} AS position, ${wasOf(columns)} AS was,
          json_object(${list(columns.map(fieldOf))}) AS texts
        FROM ${table}
        WHERE account_id = ${accountId} AND (${order}, ${table}.rowid) > (${last?.position ?? ''}, ${last?.row ?? 0})
          AND instr(lower(concat_ws(' ', ${list(columns)})), ${email})
        ORDER BY ${order}, ${table}.rowid LIMIT ${PAGE_ROWS}`);
      return rows.map((row) => ({ ...row, texts: JSON.parse(row.texts) as Row['texts'] }));
    },
    change: (row) => ({ ...row, texts: scrub(row.texts) }),
    save: (rows) => {
      const fields = columns.map(({ name }) => sql`${sql.identifier(name)} = value ->> ${`$.texts.${name}`}`);
      return db.all(sql`
        UPDATE ${table} SET ${list(fields)} FROM json_each(${rows})
        WHERE ${table}.rowid = value ->> 'row' AND +${table}.account_id = ${accountId}
          AND ${wasOf(columns)} = value ->> 'was'
        RETURNING 1`);
    },
  });
};

/** Takes the address out of what the seller has named, and out of what was sold by it. */
export const scrubStoreTexts = async (ctx: Ctx, email: string, spend: SpendQueries): Promise<void> => {
  for (const texts of TEXTS) await scrubTexts(ctx, email, texts, spend);
};
