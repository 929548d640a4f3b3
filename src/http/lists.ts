import * as z from 'zod';
import { idPattern, type IdPrefix } from '../shared/ids.ts';

/** Every list's query: newest first, `cursor` being the last id of the page before. */
export const pageQuery = (prefix: IdPrefix) => ({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().regex(idPattern(prefix), 'is not a cursor that a list gave').optional(),
});

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
