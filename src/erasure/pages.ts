import { jsonChunks } from '../db/json-rows.ts';
import type { SpendQueries } from './find-licenses.ts';

/** The most rows that a query returns. */
export const PAGE_ROWS = 200;

interface Pages<T> {
  /** Returns up to `PAGE_ROWS` rows, in the order of an index: those after this one, or the first ones. */
  read: (last: T | undefined) => Promise<T[]>;
  change: (row: T) => T;
  /** Saves changed rows, which are JSON, unless they have changed since they were read. Returns one of each that it has saved. */
  save: (rows: string) => Promise<unknown[]>;
}

/**
 * Changes all rows that name a person, however many there are. What is part of a longer address stays in it. A page of which
 * somebody else has changed a row meanwhile is read again. If the queries run out, the next run finds those that are left.
 */
export const changeAll = async <T extends object>(
  spend: SpendQueries,
  { read, change, save }: Pages<T>,
): Promise<void> => {
  for (let last: T | undefined; ;) {
    spend(1);
    const rows = await read(last);
    const changed = rows.map(change).filter((row, i) => JSON.stringify(row) !== JSON.stringify(rows[i]));
    let saved = 0;
    for (const json of jsonChunks(changed)) {
      spend(1);
      saved += (await save(json)).length;
    }
    if (saved < changed.length) continue;
    if (rows.length < PAGE_ROWS) return;
    last = rows.at(-1);
  }
};
