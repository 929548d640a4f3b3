import { DELIMITERS, type Delimiter, readCells } from '../csv.ts';
import { openRecords } from '../records.ts';
import { isFields, isPage } from './json.ts';

// Tells from the beginning of a file how to read it.

export type Shape =
  | {
      kind: 'table';
      delimiter: Delimiter;
      /** Whether no other delimiter could be meant. */
      isSure: boolean;
    }
  /** A license as JSON in each line. */
  | { kind: 'lines' }
  /** A list of licenses as JSON, or several pages of an API one after another. It is read as a whole. */
  | { kind: 'document' };

/** How much of a file `shapeOf` needs. */
export const HEAD_LENGTH = 65_536;
const MAX_RECORDS = 20;

/** Excel reads and writes this line before the header. */
const EXCEL_LINE = /^"?sep=(.)"?\r?$/i;

export const isExcelLine = (text: string): boolean => EXCEL_LINE.test(text);

const isDelimiter = (text: string | undefined): text is Delimiter =>
  DELIMITERS.some((delimiter) => delimiter === text);

interface Fit {
  delimiter: Delimiter;
  columns: number;
  /** The share of the records that have as many cells as the header. */
  share: number;
}

const fitOf = (head: string, isWhole: boolean, delimiter: Delimiter): Fit => {
  const records = openRecords('csv', HEAD_LENGTH, delimiter);
  const found = [...records.read(head), ...(isWhole ? records.end() : [])];
  const widths = found
    .filter(({ text }) => text.trim() !== '')
    .slice(0, MAX_RECORDS)
    .map(({ text }) => readCells(text, delimiter).cells.length);
  const [columns = 1] = widths;
  return { delimiter, columns, share: widths.filter((width) => width === columns).length / widths.length };
};

const tableOf = (head: string, isWhole: boolean): Shape => {
  const [, named] = EXCEL_LINE.exec(head.split('\n', 1)[0] ?? '') ?? [];
  if (isDelimiter(named)) return { kind: 'table', delimiter: named, isSure: true };
  const [best, next] = DELIMITERS.map((delimiter) => fitOf(head, isWhole, delimiter))
    .filter(({ columns }) => columns > 1)
    .toSorted((a, b) => b.share - a.share || b.columns - a.columns);
  if (!best) return { kind: 'table', delimiter: ',', isSure: true };
  return { kind: 'table', delimiter: best.delimiter, isSure: !next || next.share < best.share };
};

/** Whether the text begins with a line that is an object, and not a page of them. */
const beginsWithLine = (head: string): boolean => {
  const line = head.slice(0, head.indexOf('\n') + 1);
  try {
    const value: unknown = JSON.parse(line);
    return isFields(value) && !isPage(value);
  } catch {
    return false;
  }
};

/** Returns the shape of a file that begins with this text. */
export const shapeOf = (head: string, isWhole: boolean): Shape => {
  const text = head.trimStart();
  if (!text.startsWith('{') && !text.startsWith('[')) return tableOf(head, isWhole);
  return { kind: beginsWithLine(text) ? 'lines' : 'document' };
};
