import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import { CliError } from '../failure.ts';

/** A record of a file: a line of JSON, an element of a JSON list, or a row of a CSV file. */
export interface FileRecord {
  line: number;
  /** As it is in the file. */
  raw: string;
  /** Null if the record can't be read. */
  fields: Record<string, unknown> | null;
}

/** Returns the cells of a CSV record. Quoted cells may contain commas, doubled quotes, and line breaks. */
export const readCells = (record: string): string[] => {
  const cells: string[] = [];
  for (const [, quoted, plain = '', end] of record.matchAll(/(?:"([^"]*(?:""[^"]*)*)"|([^,]*))(,|$)/gs)) {
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '') break;
  }
  return cells;
};

const countQuotes = (text: string) => text.split('"').length - 1;

async function* readLines(file: string): AsyncGenerator<{ line: number; text: string }> {
  let line = 0;
  const input = createReadStream(file, 'utf8');
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    line++;
    yield { line, text: line === 1 ? text.replace(/^\uFEFF/, '') : text };
  }
}

/** Joins the lines of each record. A record ends where its quotes are closed. */
async function* readCsvRecords(file: string): AsyncGenerator<{ line: number; text: string }> {
  let lines: string[] = [];
  let isQuoted = false;
  let line = 0;
  for await (const { line: last, text } of readLines(file)) {
    line = last;
    lines.push(text);
    if (countQuotes(text) % 2 === 1) isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (lines.length > 1 || text !== '') yield { line: line - lines.length + 1, text: lines.join('\n') };
    lines = [];
  }
  if (lines.length > 0) yield { line: line - lines.length + 1, text: lines.join('\n') };
}

const METADATA = 'metadata.';

/** Turns a row into the fields of a line, as the service reads a CSV file. An empty cell is an absent field. */
const toLine = (row: Record<string, string>): Record<string, unknown> | null => {
  const fields: Record<string, unknown> = {};
  const metadata: Record<string, unknown> = {};
  try {
    for (const [name, cell] of Object.entries(row)) {
      if (cell === '') continue;
      if (name.startsWith(METADATA)) metadata[name.slice(METADATA.length)] = cell;
      else if (name === 'metadata') Object.assign(metadata, JSON.parse(cell));
      else if (name === 'terms') fields[name] = JSON.parse(cell);
      else if (name === 'duration_days' || name === 'copy') fields[name] = Number(cell);
      else fields[name] = cell === 'never' ? null : cell;
    }
  } catch {
    return null;
  }
  return Object.keys(metadata).length === 0 ? fields : { ...fields, metadata };
};

async function* readCsv(file: string, isPreset: boolean): AsyncGenerator<FileRecord> {
  let columns: string[] | null = null;
  for await (const { line, text } of readCsvRecords(file)) {
    const cells = readCells(text).map((cell) => cell.trim());
    if (!columns) {
      columns = cells;
      continue;
    }
    const row = Object.fromEntries(columns.map((name, i) => [name, cells[i] ?? '']));
    yield { line, raw: text, fields: isPreset ? row : toLine(row) };
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns undefined for text that isn't JSON. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

async function* readJsonLines(file: string): AsyncGenerator<FileRecord> {
  for await (const { line, text } of readLines(file)) {
    if (text.trim() === '') continue;
    const fields = parse(text);
    yield { line, raw: text, fields: isObject(fields) ? fields : null };
  }
}

/** Reads a JSON list, or an API's page with the list in `data` or `items`. */
async function* readJson(file: string): AsyncGenerator<FileRecord> {
  const text = await readFile(file, 'utf8');
  const parsed = parse(text);
  if (parsed === undefined) {
    // An export has a line of JSON for each thing, whatever the file's name is.
    yield* readJsonLines(file);
    return;
  }
  const page = isObject(parsed) ? (parsed['data'] ?? parsed['items'] ?? [parsed]) : parsed;
  if (!Array.isArray(page)) throw new CliError(`${file} has no list of licenses.`);
  for (const [i, item] of page.entries())
    yield { line: i + 1, raw: JSON.stringify(item), fields: isObject(item) ? item : null };
}

/** Reads the records of a file. Only a JSON list has to fit into memory. */
export const readRecords = (file: string, isPreset: boolean): AsyncGenerator<FileRecord> => {
  if (isCsv(file)) return readCsv(file, isPreset);
  return extname(file).toLowerCase() === '.json' ? readJson(file) : readJsonLines(file);
};

export const isCsv = (file: string): boolean => extname(file).toLowerCase() === '.csv';

/** Returns the header of a CSV file. */
export const readHeader = async (file: string): Promise<string> => {
  for await (const { text } of readCsvRecords(file)) return text;
  return '';
};
