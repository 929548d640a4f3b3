import { type Fields, readFields } from '../import-lines.ts';
import {
  type ColumnMap,
  COPY_COLUMN,
  dateColumns,
  ERROR_COLUMN,
  guessColumns,
  lineByColumns,
} from './columns.ts';
import type { DateOrder } from './dates.ts';
import { flatten } from './json.ts';
import type { SourceRow } from './rows.ts';
import type { SourceId, Survey } from './survey.ts';
import { openValues, textOf } from './values.ts';
import { VENDORS } from './vendors.ts';

// How a file is read: by whose format, with which columns, and with which order of day and month.

export interface Reading {
  source: SourceId;
  /** For the source `columns`. */
  columns: ColumnMap;
  order: DateOrder | null;
}

/** What becomes of a row. Each row is a line, has a problem, or is left out for a reason. */
export type RowOutcome = { line: Fields } | { problem: string } | { leftOut: string };

const NO_KEY = 'it has no license key';

const datesOf = ({ source, columns }: Pick<Reading, 'source' | 'columns'>): string[] => {
  if (source === 'columns') return dateColumns(columns);
  return source === 'latchkey' ? [] : VENDORS[source].dates;
};

/**
 * Returns the order that the dates of a file show. Null is a file without such dates, and `unclear` one whose dates show no
 * order, or both.
 */
export const orderIn = (
  { orders }: Survey,
  reading: Pick<Reading, 'source' | 'columns'>,
): DateOrder | 'unclear' | null => {
  const found = new Set(datesOf(reading).flatMap((name) => [...(orders.get(name) ?? [])]));
  if (found.size === 0) return null;
  if (found.has('dmy') === found.has('mdy')) return 'unclear';
  return found.has('dmy') ? 'dmy' : 'mdy';
};

/** Returns how a file is probably to be read. */
export const readingOf = (survey: Survey, source: SourceId = survey.source): Reading => {
  const values = survey.sample.flatMap(({ fields }) => (fields ? [flatten(fields)] : []));
  const columns = source === 'columns' ? guessColumns(survey.columns, values) : {};
  const order = orderIn(survey, { source, columns });
  return { source, columns, order: order === 'unclear' ? null : order };
};

/** The column that tells equal rows without a license key apart, or null if each row has a key. Our own format has a field. */
export const copyColumnOf = ({ source, columns }: Reading): string | null => {
  if (source === 'latchkey') return 'copy';
  return source === 'columns' && !Object.values(columns).includes('license_key') ? COPY_COLUMN : null;
};

/** Our own lines are taken as they are, for the service to check. Its file of failed lines has a column `error`. */
const ownLine = ({ cells, columns, fields }: SourceRow): RowOutcome => {
  const read = cells && columns ? readFields(columns, cells) : { value: fields ?? {} };
  if ('problem' in read) return { problem: read.problem };
  const { [ERROR_COLUMN]: _, ...line } = read.value;
  return { line };
};

const vendorLine = (row: Fields, { source, order }: Reading): RowOutcome => {
  const values = openValues(order);
  const mapped = VENDORS[source as keyof typeof VENDORS].toLine(row, values);
  if (typeof mapped === 'string') return { leftOut: mapped };
  if (values.problems.length > 0) return { problem: values.problems.join(' ') };
  return mapped['license_key'] === undefined ? { leftOut: NO_KEY } : { line: mapped };
};

const columnsLine = (row: Fields, reading: Reading): RowOutcome => {
  const { columns, order } = reading;
  const values = openValues(order);
  const cells = flatten(row);
  const copy = textOf(cells[copyColumnOf(reading) ?? '']);
  const line: Fields = {
    ...lineByColumns(cells, columns, values),
    ...(copy !== undefined && { copy: Number(copy) }),
  };
  const lacksKey = line['license_key'] === undefined && Object.values(columns).includes('license_key');
  const problems = [...values.problems, ...(lacksKey ? ['The row has no license key.'] : [])];
  return problems.length > 0 ? { problem: problems.join(' ') } : { line };
};

/** Returns what becomes of a row. */
export const outcomeOf = (row: SourceRow, reading: Reading): RowOutcome => {
  if (!row.fields) return { problem: row.problem };
  if (reading.source === 'latchkey') return ownLine(row);
  return reading.source === 'columns' ? columnsLine(row.fields, reading) : vendorLine(row.fields, reading);
};
