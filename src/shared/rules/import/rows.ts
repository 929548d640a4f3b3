import { type Delimiter, fromCell } from '../csv.ts';
import { type Fields, readCsvRecord, readJsonRecord } from '../import-lines.ts';
import { type FileRecord, openRecords } from '../records.ts';
import { MAX_FAILED_LENGTH } from '../transfer-limits.ts';
import { readDate } from './dates.ts';
import { isFields, itemsOf } from './json.ts';
import { isExcelLine, type Shape } from './shape.ts';

// Reads the rows of a file: the records of a table, or the licenses in JSON. None is lost: what can't be read is a row, too.

/** A row of a file, with its fields or with the problem for which it can't be read. */
export interface SourceRow {
  /** The number of its first line in the file, or its place in a JSON list, from 1. */
  line: number;
  /** As it is in the file. */
  text: string;
  /** Whether the text is only the beginning. */
  isCut: boolean;
  /** By the names of the columns. */
  fields: Fields | null;
  problem: string;
  /** The cells of a table as they are in the file, also of a row that can't be read, unless a quote isn't closed. */
  cells: string[] | null;
  /** The names of a table's columns. */
  columns: string[] | null;
}

const NO_HEADER = 'The header can’t be read.';
const NOT_JSON = 'The line isn’t valid JSON.';
const NOT_AN_OBJECT = 'It isn’t a JSON object.';
const MAX_DOCUMENT_LENGTH = 200_000_000;
const TOO_LARGE = 'The file is too large for one JSON document. Save each license as a line of JSON.';

const failed = (
  { line, text, isCut }: Pick<FileRecord, 'line' | 'text' | 'isCut'>,
  problem: string,
  columns: string[] | null = null,
  cells: string[] | null = null,
): SourceRow => ({ line, text, isCut, fields: null, problem, cells, columns });

/** Whether a text is a value and no column's name. */
const isValue = (cell: string) =>
  /^\S+@\S+\.\S+$/.test(cell) ||
  /^(?=.*\d)[A-Za-z\d]{3,}(?:-[A-Za-z\d]{3,}){2,}$/.test(cell) ||
  (/[-/.]/.test(cell) && readDate(cell, 'dmy') !== null);

/** Gives each column a name of its own. */
const namesOf = (cells: string[]): string[] => {
  const names: string[] = [];
  for (const [i, cell] of cells.entries()) {
    const name = fromCell(cell.trim()) || `Column ${i + 1}`;
    let unique = name;
    for (let n = 2; names.includes(unique); n++) unique = `${name} (${n})`;
    names.push(unique);
  }
  return names;
};

/** Returns the row of a record, or null for the header and for records that are empty. */
const openTable = (delimiter: Delimiter) => {
  let columns: string[] | null = null;
  let isFirst = true;

  const toRow = (record: FileRecord, cells: string[], names: string[]): SourceRow => {
    if (names.length === 0) return failed(record, NO_HEADER, names, cells);
    if (cells.length > names.length)
      return failed(record, 'The line has more fields than the header.', names, cells);
    const fields = Object.fromEntries(names.map((name, i) => [name, fromCell((cells[i] ?? '').trim())]));
    return { line: record.line, text: record.text, isCut: false, fields, problem: '', cells, columns: names };
  };

  return (record: FileRecord): SourceRow | null => {
    const wasFirst = isFirst;
    isFirst = false;
    if (wasFirst && isExcelLine(record.text)) return null;
    const read = readCsvRecord(record, delimiter);
    if (!read) return null;
    if ('problem' in read) {
      if (columns) return failed(record, read.problem, columns);
      columns = [];
      return failed(record, `${NO_HEADER} ${read.problem}`);
    }
    if (columns) return toRow(record, read.cells, columns);
    if (!read.cells.some(isValue)) {
      columns = namesOf(read.cells);
      return null;
    }
    columns = namesOf(read.cells.map(() => ''));
    return toRow(record, read.cells, columns);
  };
};

/** The row of each record that has one. */
async function* readRecords(
  chunks: AsyncIterable<string>,
  records: ReturnType<typeof openRecords>,
  toRow: (record: FileRecord) => SourceRow | null,
): AsyncGenerator<SourceRow> {
  for await (const chunk of chunks) {
    for (const record of records.read(chunk)) {
      const row = toRow(record);
      if (row) yield row;
    }
  }
  for (const record of records.end()) {
    const row = toRow(record);
    if (row) yield row;
  }
}

const readTable = (chunks: AsyncIterable<string>, delimiter: Delimiter) =>
  readRecords(chunks, openRecords('csv', MAX_FAILED_LENGTH, delimiter), openTable(delimiter));

const TOO_LONG = `It has more than ${MAX_FAILED_LENGTH} characters.`;

const toItem = (line: number, text: string, item: unknown): SourceRow => {
  const isCut = text.length > MAX_FAILED_LENGTH;
  if (isCut) return failed({ line, text: text.slice(0, MAX_FAILED_LENGTH), isCut }, TOO_LONG);
  return isFields(item)
    ? { line, text, isCut, fields: item, problem: '', cells: null, columns: null }
    : failed({ line, text, isCut }, NOT_AN_OBJECT);
};

const readLines = (chunks: AsyncIterable<string>) =>
  readRecords(chunks, openRecords('ndjson', MAX_FAILED_LENGTH), (record) => {
    const read = readJsonRecord(record);
    if (!read) return null;
    return 'problem' in read ? failed(record, read.problem) : toItem(record.line, record.text, read.value);
  });

function* rowsOf(items: unknown[], from: number): Generator<SourceRow> {
  for (const [i, item] of items.entries()) yield toItem(from + i, JSON.stringify(item) ?? '', item);
}

const parse = (text: string): { value: unknown } | null => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
};

async function* readDocument(chunks: AsyncIterable<string>): AsyncGenerator<SourceRow> {
  let text = '';
  for await (const chunk of chunks) {
    text += chunk;
    if (text.length <= MAX_DOCUMENT_LENGTH) continue;
    yield failed({ line: 1, text: '', isCut: true }, TOO_LARGE);
    return;
  }
  const whole = parse(text);
  if (whole) {
    yield* rowsOf(itemsOf(whole.value), 1);
    return;
  }
  // Several pages, one in each line, or lines of which the first can't be read.
  let row = 1;
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const page = parse(line);
    const items = page ? itemsOf(page.value) : null;
    if (items) yield* rowsOf(items, row);
    else {
      const isCut = line.length > MAX_FAILED_LENGTH;
      yield failed({ line: row, text: line.slice(0, MAX_FAILED_LENGTH), isCut }, NOT_JSON);
    }
    row += items?.length ?? 1;
  }
}

/** Returns the rows of a file's text, which comes in chunks without a byte order mark. */
export const readRows = (chunks: AsyncIterable<string>, shape: Shape): AsyncGenerator<SourceRow> => {
  if (shape.kind === 'table') return readTable(chunks, shape.delimiter);
  return shape.kind === 'lines' ? readLines(chunks) : readDocument(chunks);
};
