// The cursors of lists in the order of `seq`. They have the place itself, because its license may be deleted before the next page.
import { type SQL, sql } from 'drizzle-orm';
import type { LicenseRow } from '../db/schema.ts';
import { invalidField } from '../shared/app-error.ts';
import { NOT_A_CURSOR } from '../shared/schemas/lists.ts';

export const seqCursor = ({ seq }: Pick<LicenseRow, 'seq'>): string => String(seq);

export const beforeCursor = (cursor: string | null | undefined): SQL | undefined => {
  if (cursor === undefined || cursor === null) return undefined;
  if (!/^[1-9][0-9]{0,14}$/.test(cursor)) throw invalidField('cursor', NOT_A_CURSOR);
  // FTS5 ignores a bound that isn't an integer, and D1 may bind a number as a real.
  return sql`CAST(${cursor} AS INTEGER)`;
};
