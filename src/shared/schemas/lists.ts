import * as z from 'zod';
import { idPattern, type IdPrefix } from '../text/ids.ts';

export const NOT_A_CURSOR = 'must be a next_cursor that this list returned';

/** The query parameters of every list. `cursor` identifies the last row of the previous page. */
export const pageAfter = (cursor: RegExp) => ({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().regex(cursor, NOT_A_CURSOR).optional(),
});

export const pageQuery = (prefix: IdPrefix) => pageAfter(idPattern(prefix));

/** The query parameters of a list whose rows have a number instead of an id. */
export const numberedPageQuery = pageAfter(/^[1-9][0-9]{0,14}$/);

export const listOf = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'The cursor of the next page, or null on the last page.' }),
  });

export interface PageInput {
  limit: number;
  cursor?: string | undefined;
}

/** Builds a page from up to `limit + 1` rows. The extra row only shows that there is a next page, which begins after a row's cursor. */
export const toPage = <Row extends { id: string }, Item>(
  rows: Row[],
  limit: number,
  toItem: (row: Row) => Item,
  cursorOf = ({ id }: Row): string => id,
) => {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { data: page.map(toItem), next_cursor: last ? cursorOf(last) : null };
};
