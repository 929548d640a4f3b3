import { toCsvRecord } from '../csv.ts';
import { cellText } from '../import-lines.ts';
import { ERROR_COLUMN } from './columns.ts';
import { failedCopy, hasOwnNumber, isKeyless, unreadCopy } from './copies.ts';
import { isFields } from './json.ts';
import { copyColumnOf, type Reading } from './reading.ts';
import type { RowResult } from './run.ts';
import type { Shape } from './shape.ts';
import { textOf } from './values.ts';

// Writes the rows that failed, in the form of their file and with the reason of each, so that they can be corrected and
// imported. An import leaves out the reasons. A row without a license key gets a number there, from which its key follows:
// numbered anew, it would be one of those that didn't fail.

/** Excel takes a file for UTF-8 only with a byte order mark. */
const MARK = '\uFEFF';

const withFields = (text: string, added: object): string => {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? JSON.stringify({ ...value, ...added }) : text;
  } catch {
    return text;
  }
};

export const openFailedFile = (shape: Shape, columns: string[], reading: Reading) => {
  const copyColumn = copyColumnOf(reading);
  const added = copyColumn === null ? [ERROR_COLUMN] : [copyColumn, ERROR_COLUMN];
  const names = columns.filter((name) => !added.includes(name));

  /** A row that wasn't sent keeps the number that it came with. */
  const copyOf = ({ row, line }: RowResult): unknown => {
    if (line) return failedCopy(line);
    const fields = row.fields ?? {};
    const given = fields[copyColumn ?? ''];
    if (textOf(given) !== undefined) return given;
    const needsNone = reading.source === 'latchkey' && !isKeyless(fields);
    return needsNone ? undefined : unreadCopy(row.line, row.text);
  };

  return {
    /** What begins the file: the header of a table, if it has one. */
    header: shape.kind === 'table' ? `${MARK}${toCsvRecord([...names, ...added], shape.delimiter)}\n` : '',

    /** Returns a row, or null for one that is only a beginning. */
    toRow: (result: RowResult): string | null => {
      const { row, reason } = result;
      if (row.isCut) return null;
      const copy = copyOf(result);
      if (shape.kind !== 'table') {
        const number = copyColumn !== null && copy !== undefined && { [copyColumn]: copy };
        return `${withFields(row.text, { ...number, [ERROR_COLUMN]: reason })}\n`;
      }
      // A quote that isn't closed would take in what follows.
      if (!row.cells) return `${row.text}\n`;
      const cells = row.cells.flatMap((cell, i) => {
        const name = columns[i] ?? '';
        return added.includes(name) ? [] : [cellText(name, cell)];
      });
      while (cells.length < names.length) cells.push('');
      if (cells.length > names.length) return `${toCsvRecord(cells, shape.delimiter)}\n`;
      const number = copyColumn === null ? [] : [textOf(copy) ?? ''];
      return `${toCsvRecord([...cells, ...number, reason], shape.delimiter)}\n`;
    },
  };
};

/**
 * Whether a row that failed before has the values of a license that exists, and neither a license key nor a number of its own:
 * it may be meant as another one.
 */
export const isRepeated = ({ row, line, result }: RowResult): boolean =>
  result === 'unchanged' &&
  textOf(row.fields?.[ERROR_COLUMN]) !== undefined &&
  line?.['copy'] !== undefined &&
  line['license_key'] === undefined &&
  !hasOwnNumber(line['copy']);

/** What to say of so many of these rows. */
export const sayRepeated = (rows: number, reading: Reading): string =>
  `${rows} ${rows === 1 ? 'row' : 'rows'} without a license key created no license, because there are licenses with the same values. If others are meant, write a number that no equal row has into the column ${copyColumnOf(reading)}.`;

/** The name of the file of failed rows. */
export const failedName = (name: string, shape: Shape): string => {
  const stem = name.replace(/\.[^./\\]*$/, '');
  return `${stem}.failed.${shape.kind === 'table' ? 'csv' : 'ndjson'}`;
};
