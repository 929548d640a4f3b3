// CSV as RFC 4180 describes it: quoted fields may contain commas, quotes that are doubled, and line breaks.

export interface CsvRecord {
  /** The number of the record's first line in the file. */
  line: number;
  cells: string[];
  /** Whether the text ends within a quoted field. */
  isUnfinished: boolean;
}

/** A field with its delimiter. A quote within an unquoted field has no meaning. */
const FIELD = /(?:"([^"]*(?:""[^"]*)*)("?)|([^,\r\n]*))([^,\r\n]*)(,|\r\n|\n|\r|$)/y;

const countLines = (text: string) => text.match(/\r\n|\n|\r/g)?.length ?? 0;

/** Returns the records of a CSV text without its empty lines. Spreadsheets write some of them with commas. */
export function* readCsv(text: string): Generator<CsvRecord> {
  const field = new RegExp(FIELD);
  let line = 1;
  let record: CsvRecord = { line, cells: [], isUnfinished: false };
  while (field.lastIndex < text.length) {
    const [matched = '', quoted, closing, plain = '', rest = '', delimiter = ''] = field.exec(text) ?? [];
    record.cells.push(quoted === undefined ? plain + rest : quoted.replaceAll('""', '"') + rest);
    record.isUnfinished ||= quoted !== undefined && closing === '';
    line += countLines(matched);
    if (delimiter === ',' && field.lastIndex < text.length) continue;
    if (delimiter === ',') record.cells.push('');
    if (record.cells.some((cell) => cell.trim() !== '')) yield record;
    record = { line, cells: [], isUnfinished: false };
  }
}

/** Returns the first record of a CSV text. */
export const firstRecord = (text: string): CsvRecord | undefined =>
  readCsv(text).next().value as CsvRecord | undefined;

/** Spreadsheets take such a cell for a formula, which could send the sheet's data away. A single quote makes it text. */
const FORMULA = /^'*[=+\-@\t\r]/;
const QUOTED_FORMULA = /^'+[=+\-@\t\r]/;

const toCell = (value: string): string => {
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Returns a record without its line break. */
export const toCsvRecord = (values: string[]): string => values.map(toCell).join(',');

/** Returns the value of a cell that `toCsvRecord` may have written. */
export const fromCell = (cell: string): string => (QUOTED_FORMULA.test(cell) ? cell.slice(1) : cell);
