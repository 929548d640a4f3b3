import * as z from 'zod';
import { idPattern, type IdPrefix } from '../shared/ids.ts';

/** Every list's query: newest first, `cursor` being what names the last row of the page before. */
const pageAfter = (cursor: RegExp) => ({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().regex(cursor, 'is not a cursor that a list gave').optional(),
});

export const pageQuery = (prefix: IdPrefix) => pageAfter(idPattern(prefix));

/** For rows that are numbered and have no id. */
export const numberedPageQuery = pageAfter(/^[1-9][0-9]{0,14}$/);

export interface PageInput {
  limit: number;
  cursor?: string | undefined;
}

export const listOf = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item),
    next_cursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  });

/** From `limit + 1` rows, read to know whether there are more. */
export const toPage = <Row extends { id: string }, Item>(
  rows: Row[],
  limit: number,
  toItem: (row: Row) => Item,
) => {
  const page = rows.slice(0, limit);
  return { data: page.map(toItem), next_cursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
};
