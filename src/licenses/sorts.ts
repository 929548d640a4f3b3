// The orders of a list of licenses. Each is the order of an index, so that a page reads only what it compares.
import { Buffer } from 'node:buffer';
import { type SQL, sql } from 'drizzle-orm';
import type { LicenseRow } from '../db/schema.ts';
import { invalidField } from '../shared/app-error.ts';
import { NOT_A_CURSOR } from '../shared/schemas/lists.ts';
import { idPattern } from '../shared/text/ids.ts';

const SORTED_FIELDS = ['created_at', 'expires_at', 'customer_email'] as const;
export type SortedField = (typeof SORTED_FIELDS)[number];
export const SORTS = SORTED_FIELDS.flatMap((field) => [field, `-${field}`] as const);
export type Sort = (typeof SORTS)[number];

/** A license's place in an order: its value there, null if it never expires, and what decides among equal values. */
interface Place {
  value: string | null;
  tie: string | number;
}

/** A part of an order that one index has in one piece. */
export interface Stretch {
  index: string;
  where: SQL;
  order: SQL;
  /** What the index can't tell: whether a license belongs to this part. */
  condition?: SQL;
  cursorAfter: (row: LicenseRow) => string;
}

const COLUMNS = {
  created_at: { index: 'licenses_by_id', value: sql`''`, tie: sql`id` },
  expires_at: { index: 'licenses_by_expiry', value: sql`expires_at`, tie: sql`id` },
  customer_email: { index: 'licenses_by_email', value: sql`lower(customer_email)`, tie: sql`seq` },
} satisfies Record<SortedField, object>;

/** Sorts after every date. */
const AFTER_DATES = '~';

export const fieldOf = (sort: Sort) => sort.replace('-', '') as SortedField;

type Direction = ReturnType<typeof directionOf>;

const directionOf = (sort: Sort) =>
  sort.startsWith('-')
    ? { isDescending: true, after: sql.raw('<'), direction: sql.raw('DESC') }
    : { isDescending: false, after: sql.raw('>'), direction: sql.raw('ASC') };

/** A list by creation time has ids as cursors, as a list without `sort`. */
const writeCursor = (field: SortedField, { value, tie }: Place): string =>
  field === 'created_at' ? `${tie}` : Buffer.from(JSON.stringify([value, tie])).toString('base64url');

/** The cursor after a license. One that is compared among those that never expire has its place there. */
const cursorAfter =
  (field: SortedField, isPerpetual = false) =>
  (row: LicenseRow): string => {
    if (field === 'customer_email')
      return writeCursor(field, { value: row.customerEmail.toLowerCase(), tie: row.seq });
    return writeCursor(field, { value: isPerpetual ? null : row.expiresAt, tie: row.id });
  };

const LICENSE_ID = idPattern('lic');

const parsePlace = (field: SortedField, cursor: string): Place | null => {
  if (field === 'created_at') return LICENSE_ID.test(cursor) ? { value: '', tie: cursor } : null;
  try {
    const [value, tie] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    const isValue = typeof value === 'string' || (value === null && field === 'expires_at');
    const isTie = field === 'expires_at' ? typeof tie === 'string' : typeof tie === 'number';
    return isValue && isTie ? ({ value, tie } as Place) : null;
  } catch {
    return null;
  }
};

const readPlace = (sort: Sort, cursor: string | undefined): Place | null => {
  if (cursor === undefined) return null;
  const place = parsePlace(fieldOf(sort), cursor);
  if (!place) throw invalidField('cursor', NOT_A_CURSOR);
  return place;
};

/** The license after which a page in order of creation begins. */
export const readLicenseId = (cursor: string | undefined): string | null => {
  const place = readPlace('created_at', cursor);
  return place && `${place.tie}`;
};

/** The whole order, for licenses that are compared with each other. */
export const orderOf = (sort: Sort, cursor: string | undefined) => {
  const field = fieldOf(sort);
  const { after, direction } = directionOf(sort);
  const { tie } = COLUMNS[field];
  const value = field === 'expires_at' ? sql`ifnull(expires_at, ${AFTER_DATES})` : COLUMNS[field].value;
  const place = readPlace(sort, cursor);
  return {
    order: sql`${value} ${direction}, ${tie} ${direction}`,
    isAfter: place && sql`(${value}, ${tie}) ${after} (${place.value ?? AFTER_DATES}, ${place.tie})`,
    cursorAfter: cursorAfter(field),
  };
};

/** Licenses that never expire are in no index by expiry. They come after all dates. */
const perpetual = (place: Place | null, { after, direction }: Direction): Stretch => ({
  index: COLUMNS.created_at.index,
  where: place?.value === null ? sql`id ${after} ${place.tie}` : sql`true`,
  order: sql`id ${direction}`,
  condition: sql`expires_at IS NULL`,
  cursorAfter: cursorAfter('expires_at', true),
});

/** Divides the rest of an order, after the cursor, into stretches. `range` is a condition on the sorted field. */
export const stretchesOf = (sort: Sort, cursor: string | undefined, range: SQL | undefined): Stretch[] => {
  const field = fieldOf(sort);
  const direction = directionOf(sort);
  const { index, value, tie } = COLUMNS[field];
  const place = readPlace(sort, cursor);
  const byTie = sql`${tie} ${direction.direction}`;
  const stretch = (order: SQL, ...where: (SQL | undefined)[]): Stretch => ({
    index,
    where: sql.join(
      [sql`true`, range, ...where].filter((condition) => condition !== undefined),
      sql` AND `,
    ),
    order,
    cursorAfter: cursorAfter(field),
  });
  const isAfterTie = place ? sql`${tie} ${direction.after} ${place.tie}` : undefined;
  // A range of emails is one email.
  const isOneValue = field === 'created_at' || (field === 'customer_email' && range);
  if (isOneValue) return [stretch(byTie, isAfterTie)];
  const order = sql`${value} ${direction.direction}, ${byTie}`;
  const dated = place?.value
    ? [
        stretch(byTie, sql`${value} = ${place.value}`, isAfterTie),
        stretch(order, sql`${value} ${direction.after} ${place.value}`),
      ]
    : [stretch(order, sql`${value} IS NOT NULL`)];
  if (field === 'customer_email' || range) return dated;
  if (direction.isDescending) return place?.value ? dated : [perpetual(place, direction), ...dated];
  return place?.value === null ? [perpetual(place, direction)] : [...dated, perpetual(place, direction)];
};
