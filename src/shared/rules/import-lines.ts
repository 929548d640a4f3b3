import { type Delimiter, fromCell, readCells } from './csv.ts';
import { parseCell } from './license-csv.ts';
import { JSON_FIELDS } from './license-fields.ts';
import type { FileRecord } from './records.ts';
import { MAX_COLUMNS, MAX_LINE_LENGTH } from './transfer-limits.ts';

// Reads the records of a file to import. The service, the dashboard, and the tool read them in the same way.

/** The fields of a line, by name. */
export type Fields = Record<string, unknown>;

/** Whether a line is a license's. An export has other lines, too. */
export const isLicense = ({ type }: Fields): boolean => (type ?? 'license') === 'license';

/** Why a record can't be read. */
export interface RecordProblem {
  code: 'invalid_line' | 'line_too_long' | 'too_many_columns';
  problem: string;
}

const invalid = (problem: string): RecordProblem => ({ code: 'invalid_line', problem });

const TOO_LONG: RecordProblem = {
  code: 'line_too_long',
  problem: `The line has more than ${MAX_LINE_LENGTH} characters. Shorten it. In a CSV file, a quote that isn’t closed may be the cause.`,
};

const TOO_WIDE: RecordProblem = {
  code: 'too_many_columns',
  problem: `The line has more than ${MAX_COLUMNS} columns.`,
};

/** The cells of a CSV record, or null for a record of empty cells, which spreadsheets write for an empty row. */
type ReadCells = { cells: string[] } | RecordProblem | null;

export const readCsvRecord = ({ text, isTooLong }: FileRecord, delimiter: Delimiter = ','): ReadCells => {
  if (isTooLong) return TOO_LONG;
  const { cells, isUnfinished, isTooWide } = readCells(text, delimiter);
  if (isUnfinished) return invalid('The line has a quote that isn’t closed.');
  if (isTooWide) return TOO_WIDE;
  return cells.every((cell) => cell.trim() === '') ? null : { cells };
};

/** Returns the value of a line of JSON, or why it can't be read. Null is an empty line. */
export const readJsonRecord = ({
  text,
  isTooLong,
}: FileRecord): { value: unknown } | RecordProblem | null => {
  if (isTooLong) return TOO_LONG;
  if (text.trim() === '') return null;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return invalid('The line isn’t valid JSON.');
  }
};

const METADATA_PREFIX = 'metadata.';

/** Whether the name is a column that holds one entry of the metadata. */
export const isMetadataColumn = (name: string) =>
  name.startsWith(METADATA_PREFIX) && name.length > METADATA_PREFIX.length;

/** Returns the text that a cell of our own format stands for. Only in an entry of the metadata, spaces around it count. */
export const cellText = (column: string, cell: string): string =>
  fromCell(isMetadataColumn(column) ? cell : cell.trim());

/** An empty cell is an absent field. */
const toFields = (columns: string[], cells: string[]): Fields => {
  const fields: Fields = {};
  const metadata: [string, string][] = [];
  for (const [i, column] of columns.entries()) {
    const cell = cells[i] ?? '';
    if (cell.trim() === '') continue;
    const text = cellText(column, cell);
    if (isMetadataColumn(column)) metadata.push([column.slice(METADATA_PREFIX.length), text]);
    else fields[column] = parseCell(column, text);
  }
  if (metadata.length === 0) return fields;
  return {
    ...fields,
    metadata: { ...(fields['metadata'] as object | undefined), ...Object.fromEntries(metadata) },
  };
};

/** Returns the fields of a CSV record's cells, by the names of the columns. */
export const readFields = (columns: string[], cells: string[]): { value: Fields } | RecordProblem => {
  if (cells.length > columns.length) return invalid('The line has more fields than the header.');
  try {
    return { value: toFields(columns, cells) };
  } catch {
    return invalid(`The columns ${JSON_FIELDS.join(' and ')} must contain JSON.`);
  }
};

/**
 * A part of a dry run doesn't know the licenses that earlier parts of the file would create. Returns whether a line fails only
 * because its license is one of them.
 */
export const openDryRun = () => {
  const created = new Set<unknown>();
  return (fields: Fields, { result, error }: { result: string; error?: { code: string } | undefined }) => {
    const licenseKey = fields['license_key'];
    if (result === 'created' && isLicense(fields)) created.add(licenseKey);
    return error?.code === 'license_not_found' && created.has(licenseKey);
  };
};
