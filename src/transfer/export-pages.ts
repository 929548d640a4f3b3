import { and, eq, getTableColumns, type InferSelectModel, type SQL, type SQLChunk, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { AccountDatabase, FirstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import type { ExportLine } from './export-lines.ts';

// Reads an account in pages. Each page is one query or one call to an object, which continues after the key of the last
// row. So a row that exists during the whole export is in it exactly once, and a row that is changed meanwhile is in it as
// it was before or after the change.

/** The key of a row, in the order of its section. */
export type Position = (string | number)[];

export interface Page {
  lines: ExportLine[];
  /** The key of the last row, or null if no row follows. */
  next: Position | null;
}

/** Reads the page of a section after a position, or its first page. */
export type Section = (ctx: Ctx, after: Position | null) => Promise<Page>;

/** About what a page has at most. Its rows are cut off by their own size. */
export const PAGE_BYTES = 1_000_000;
const MAX_PAGE_ROWS = 2_000;
/** What a line has besides the values of its row: names, and quotes. */
const LINE_BYTES = 400;

/** A section with a single page. */
export const onePage =
  (read: (ctx: Ctx) => Promise<ExportLine[]>): Section =>
  async (ctx) => ({ lines: await read(ctx), next: null });

/** A section whose pages are read until one is empty. */
export const inPages =
  <Row>(
    read: (ctx: Ctx, after: Position | null) => Promise<Row[]>,
    positionOf: (row: Row) => Position,
    toLines: (rows: Row[], ctx: Ctx) => ExportLine[] | Promise<ExportLine[]>,
  ): Section =>
  async (ctx, after) => {
    const rows = await read(ctx, after);
    const last = rows.at(-1);
    return { lines: await toLines(rows, ctx), next: last === undefined ? null : positionOf(last) };
  };

const list = (parts: SQLChunk[]) => sql.join(parts, sql`, `);

/** What a section reads. */
export interface ExportSource<Table = SQLiteTable> {
  table: Table;
  key: SQLiteColumn[];
  only?: SQL;
  /** The bytes of what lines have besides their own row, such as rows of other tables. */
  besides?: SQL;
  /** How many rows are looked at, if `besides` makes that expensive. */
  maxRows?: number;
}

/** Returns the number of rows that fit into a page, at least one. The database doesn't send the others. */
const rowsThatFit = (
  { table, key, besides = sql`0`, maxRows = MAX_PAGE_ROWS }: ExportSource,
  where: SQL | undefined,
): SQL => {
  const names = list(key.map(({ name }) => sql.identifier(name)));
  const sizes = Object.values(getTableColumns(table)).map(
    (column) => sql`coalesce(octet_length(${column}), 0)`,
  );
  return sql`(
    SELECT max(1, count(*)) FROM (
      SELECT sum(bytes) OVER (ORDER BY ${names} ROWS UNBOUNDED PRECEDING) AS total FROM (
        SELECT ${names}, ${sql.join(sizes, sql` + `)} + ${besides} + ${LINE_BYTES} AS bytes
        FROM ${table} WHERE ${where} ORDER BY ${names} LIMIT ${maxRows}))
    WHERE total <= ${PAGE_BYTES})`;
};

/** Reads as many of the account's rows as fit into a page, in the order of their key. */
export const readRows = async <Table extends SQLiteTable & { accountId: SQLiteColumn }>(
  db: AccountDatabase | FirstDatabase,
  accountId: string,
  source: ExportSource<Table>,
  after: Position | null,
): Promise<InferSelectModel<Table>[]> => {
  const { table, key, only } = source;
  const columns = key.map((column) => sql`${column}`);
  const isAfter = after && sql`(${list(columns)}) > (${list(after.map((value) => sql`${value}`))})`;
  const where = and(eq(table.accountId, accountId), isAfter ?? undefined, only);
  const rows = await db
    .select()
    .from(table as SQLiteTable)
    .where(where)
    .orderBy(...columns)
    // SQLite takes any expression for a limit, the type takes only numbers.
    .limit(rowsThatFit(source, where) as unknown as number);
  return rows as InferSelectModel<Table>[];
};
