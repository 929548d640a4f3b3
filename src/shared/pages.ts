export interface PageInput {
  limit: number;
  cursor?: string | undefined;
}

/** Builds a page from `limit + 1` rows: the extra row only tells that there are more. */
export const toPage = <Row extends { id: string }, Item>(
  rows: Row[],
  limit: number,
  toItem: (row: Row) => Item,
) => {
  const page = rows.slice(0, limit);
  return { data: page.map(toItem), next_cursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
};
