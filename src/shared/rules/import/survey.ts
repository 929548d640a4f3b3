import { isMetadataColumn } from '../import-lines.ts';
import { LICENSE_FIELDS } from '../license-fields.ts';
import { MAX_COLUMNS } from '../transfer-limits.ts';
import { ERROR_COLUMN } from './columns.ts';
import { type DateOrder, orderOf } from './dates.ts';
import { flatten } from './json.ts';
import type { SourceRow } from './rows.ts';
import { textOf } from './values.ts';
import { VENDORS, type VendorId } from './vendors.ts';

// Looks through a file before it is imported: who has written it, which columns it has, and how it writes dates.

/** `latchkey` is a file of our own format, and `columns` one of which the columns have to be mapped. */
export type SourceId = VendorId | 'latchkey' | 'columns';

export interface Survey {
  source: SourceId;
  rows: number;
  unreadable: number;
  /** The names of the columns. Values within objects have paths, such as `customer.email`. */
  columns: string[];
  /** The first rows. */
  sample: SourceRow[];
  /** The orders of day and month of which a column’s dates give evidence. */
  orders: Map<string, Set<DateOrder | 'either'>>;
}

const SAMPLE_ROWS = 50;

/** What a line may have beside the fields of a license, and the reason that a file of failed lines has. */
const OWN = new Set([...Object.keys(LICENSE_FIELDS), 'duration_days', 'copy', 'type', ERROR_COLUMN]);
const TYPES = new Set(
  'account product license activation api_key webhook payment usage_day license_change audit cursor end'.split(
    ' ',
  ),
);

const isOwnLine = ({ fields }: SourceRow) => TYPES.has(textOf(fields?.['type']) ?? '');
const isOwnColumn = (name: string) => OWN.has(name.split('.', 1)[0] ?? '') || isMetadataColumn(name);

const sourceOf = (columns: string[], sample: SourceRow[]): SourceId => {
  const readable = sample.filter(({ fields }) => fields);
  const isTyped = readable.some(isOwnLine) && readable.every(({ cells }) => cells === null);
  if (isTyped || (columns.length > 0 && columns.every(isOwnColumn))) return 'latchkey';
  const names = new Set(columns);
  const resource = textOf(readable[0]?.fields?.['resource']) ?? '';
  const has = (...wanted: string[]) => wanted.every((name) => names.has(name));
  const vendor = (Object.keys(VENDORS) as VendorId[]).find((id) => VENDORS[id].isIts(has, resource));
  return vendor ?? 'columns';
};

/** Looks through the rows of a file, one after another. */
export const openSurvey = () => {
  const columns = new Set<string>();
  const sample: SourceRow[] = [];
  const orders: Survey['orders'] = new Map();
  let rows = 0;
  let unreadable = 0;

  const lookAt = (name: string, value: string) => {
    if (columns.size < MAX_COLUMNS) columns.add(name);
    const order = orderOf(value);
    if (order === null) return;
    const found = orders.get(name);
    if (found) found.add(order);
    else orders.set(name, new Set([order]));
  };

  return {
    add: (row: SourceRow) => {
      rows++;
      if (!row.fields) unreadable++;
      if (sample.length < SAMPLE_ROWS) sample.push(row);
      // In their order, also if no row can be read.
      if (columns.size === 0) for (const name of row.columns ?? []) columns.add(name);
      for (const [name, value] of Object.entries(row.fields ? flatten(row.fields) : {})) lookAt(name, value);
    },
    result: (): Survey => {
      const names = [...columns];
      return { source: sourceOf(names, sample), rows, unreadable, columns: names, sample, orders };
    },
  };
};
