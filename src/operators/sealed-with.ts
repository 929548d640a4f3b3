import { and, gte, lt, or, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { SealingRing } from '../shared/crypto/sealing.ts';

/** The names of sealing keys have no dot, so the sealed secrets of each of them are a range, up to the next character. */
const rangeOf = (name: string) => [`${name}.`, `${name}/`] as const;

/** Secrets that have to be sealed again. */
export const isSealedOtherwise = (column: SQLiteColumn, { current }: SealingRing): SQL | undefined => {
  const [from, to] = rangeOf(current);
  return or(lt(column, from), gte(column, to));
};

/** Secrets that can be unsealed. Others would be at the front of every page. */
export const isReadable = (column: SQLiteColumn, { keys }: SealingRing): SQL | undefined =>
  or(
    ...[...keys.keys()].map((name) => {
      const [from, to] = rangeOf(name);
      return and(gte(column, from), lt(column, to));
    }),
  );
