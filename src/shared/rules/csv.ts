import { MAX_COLUMNS } from './transfer-limits.ts';

// CSV as RFC 4180 describes it: quoted fields may contain commas, quotes that are doubled, and line breaks.

export interface CsvCells {
  cells: string[];
  /** Whether the text ends within a quoted field. */
  isUnfinished: boolean;
  /** Whether the record has more cells than a file may have columns. They are not read. */
  isTooWide: boolean;
}

export const DELIMITERS = [',', ';', '\t'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** A field with its delimiter. A quote within an unquoted field has no meaning. */
const FIELDS: Record<Delimiter, RegExp> = {
  ',': /(?:"([^"]*(?:""[^"]*)*)("?)|([^,\r\n]*))([^,\r\n]*)(,|$)/y,
  ';': /(?:"([^"]*(?:""[^"]*)*)("?)|([^;\r\n]*))([^;\r\n]*)(;|$)/y,
  '\t': /(?:"([^"]*(?:""[^"]*)*)("?)|([^\t\r\n]*))([^\t\r\n]*)(\t|$)/y,
};

/** Returns the cells of a record. */
export const readCells = (record: string, by: Delimiter = ','): CsvCells => {
  const field = new RegExp(FIELDS[by]);
  const cells: string[] = [];
  for (let isLast = false; !isLast;) {
    if (cells.length === MAX_COLUMNS) return { cells, isUnfinished: false, isTooWide: true };
    const [, quoted, closing, plain = '', rest = '', delimiter] = field.exec(record) ?? [];
    cells.push(quoted === undefined ? plain + rest : quoted.replaceAll('""', '"') + rest);
    if (quoted !== undefined && closing === '') return { cells, isUnfinished: true, isTooWide: false };
    isLast = delimiter !== by;
  }
  return { cells, isUnfinished: false, isTooWide: false };
};

// A spreadsheet takes a cell that begins with one of these characters for a formula, which could send the sheet's data away. A
// single quote before it makes it text. In countries with a decimal comma, spreadsheets split lines at semicolons, even within
// our quotes, so that a formula can also begin after a semicolon, a tab, or a line break.
const FORMULA = /^'*[=+\-@\t\r]/;
const QUOTED_FORMULA = /^'+[=+\-@\t\r]/;
const INNER_FORMULA = /([;\t\r\n][" ]*)('*)(?=[=+\-@])/g;
const QUOTED_INNER_FORMULA = /([;\t\r\n][" ]*)'('*)(?=[=+\-@])/g;

const toCell = (value: string, delimiter: Delimiter): string => {
  const inner = value.replace(INNER_FORMULA, "$1'$2");
  const text = FORMULA.test(value) ? `'${inner}` : inner;
  return /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Returns a record without its line break. */
export const toCsvRecord = (values: string[], delimiter: Delimiter = ','): string =>
  values.map((value) => toCell(value, delimiter)).join(delimiter);

/** Returns the value of a cell that `toCsvRecord` may have written. */
export const fromCell = (cell: string): string =>
  (QUOTED_FORMULA.test(cell) ? cell.slice(1) : cell).replace(QUOTED_INNER_FORMULA, '$1$2');
