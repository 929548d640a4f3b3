import type { Output } from './output.ts';

const PAGE_SIZE = 100;

interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

/** Reads the pages of a list up to a number of items. Returns the first page with the items of all of them. */
export const allPages = async <T, P extends Page<T>>(
  out: Output,
  max: number,
  read: (query: { limit: number; cursor?: string }) => Promise<P & Page<T>>,
): Promise<P & Page<T>> => {
  const first = await read({ limit: Math.min(max, PAGE_SIZE) });
  const data = [...first.data];
  let { next_cursor } = first;
  while (next_cursor !== null && data.length < max) {
    out.progress(`${data.length} read…`);
    const limit = Math.min(max - data.length, PAGE_SIZE);
    const page: Page<T> = await read({ limit, cursor: next_cursor });
    data.push(...page.data);
    ({ next_cursor } = page);
  }
  return { ...first, data, next_cursor };
};
