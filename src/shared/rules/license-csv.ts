import { CHANGEABLE_FIELDS, DAY_FIELDS, JSON_FIELDS } from './license-fields.ts';

// The columns of a CSV file of licenses. An import takes back what an export writes.

const isJson = (column: string) => JSON_FIELDS.some((field) => field === column);
const isDay = (column: string) => DAY_FIELDS.some((field) => field === column);
/** Columns that only an import has. */
const NUMBER_COLUMNS = new Set(['duration_days', 'copy']);
/** Stands for a null in the column of a day. */
const NEVER = 'never';

/** The columns of an export. Those with long values come last. */
export const CSV_COLUMNS = [
  ...CHANGEABLE_FIELDS.filter((field) => !isJson(field)),
  ...JSON_FIELDS,
  'created_at' as const,
];

const toText = (column: string, value: unknown): string => {
  if (value === null || value === undefined) return isDay(column) ? NEVER : '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** Returns the cells of a license's record. */
export const toCsvCells = (license: { [Column in (typeof CSV_COLUMNS)[number]]?: unknown }): string[] =>
  CSV_COLUMNS.map((column) => toText(column, license[column]));

/** Returns the value of a cell's text. Throws if it should be JSON and isn't. */
export const parseCell = (column: string, text: string): unknown => {
  if (isJson(column)) return JSON.parse(text);
  if (NUMBER_COLUMNS.has(column)) return Number(text);
  return isDay(column) && text === NEVER ? null : text;
};
