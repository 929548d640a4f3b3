export interface PageInput {
  limit: number;
  cursor?: string | undefined;
}

/** Builds a page from up to `limit + 1` rows. The extra row only shows that there is a next page. */
export const toPage = <Row extends { id: string }, Item>(
  rows: Row[],
  limit: number,
  toItem: (row: Row) => Item,
) => {
  const page = rows.slice(0, limit);
  return { data: page.map(toItem), next_cursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
};
