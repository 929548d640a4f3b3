import { fromCell, toCsvRecord } from '../csv.ts';
import { ERROR_COLUMN } from './columns.ts';
import { isFields } from './json.ts';
import type { RowResult } from './run.ts';
import type { Shape } from './shape.ts';

// Writes the rows that failed, in the form of their file and with the reason of each, so that they can be corrected and
// imported. An import leaves out the reasons.

/** Excel takes a file for UTF-8 only with a byte order mark. */
const MARK = '\uFEFF';

/** Returns what begins the file: the header of a table, if it has one. */
export const failedHeader = (shape: Shape, columns: string[]): string => {
  if (shape.kind !== 'table') return '';
  const names = columns.filter((name) => name !== ERROR_COLUMN);
  return `${MARK}${toCsvRecord([...names, ERROR_COLUMN], shape.delimiter)}\n`;
};

const withReason = (text: string, reason: string): string => {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? JSON.stringify({ ...value, [ERROR_COLUMN]: reason }) : text;
  } catch {
    return text;
  }
};

/** Returns a row, or null for one that is only a beginning. */
export const failedRow = (shape: Shape, columns: string[], { row, reason }: RowResult): string | null => {
  if (row.isCut) return null;
  if (shape.kind !== 'table') return `${withReason(row.text, reason)}\n`;
  // A quote that isn't closed would take in what follows.
  if (!row.cells) return `${row.text}\n`;
  const at = columns.indexOf(ERROR_COLUMN);
  const cells = row.cells.filter((_, i) => at === -1 || i !== at).map((cell) => fromCell(cell.trim()));
  const width = columns.length - (at === -1 ? 0 : 1);
  while (cells.length < width) cells.push('');
  return `${toCsvRecord(cells.length > width ? cells : [...cells, reason], shape.delimiter)}\n`;
};

/** The name of the file of failed rows. */
export const failedName = (name: string, shape: Shape): string => {
  const stem = name.replace(/\.[^./\\]*$/, '');
  return `${stem}.failed.${shape.kind === 'table' ? 'csv' : 'ndjson'}`;
};
