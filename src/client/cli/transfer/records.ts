import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fromCell } from '../../../shared/rules/csv.ts';
import {
  type Fields,
  readCsvRecord,
  readFields,
  readJsonRecord,
} from '../../../shared/rules/import-lines.ts';
import { type FileRecord, type ImportFormat, openRecords } from '../../../shared/rules/records.ts';
import { MAX_FAILED_LENGTH } from '../../../shared/rules/transfer-limits.ts';
import { CliError } from '../failure.ts';

/** A record of a file: a line of JSON, an element of a JSON list, or a row of a CSV file. */
export interface ReadRecord {
  line: number;
  /** As it is in the file. */
  raw: string;
  /** Whether `raw` is only the beginning. */
  isCut?: boolean;
  /** Null if the record can't be read. */
  fields: Fields | null;
  /** Why the record can't be read. */
  problem?: string;
}

const notUtf8 = (file: string, cause: unknown) =>
  new CliError(`${file} isn’t UTF-8.`, { cause, advice: 'Save it as UTF-8, and run the command again.' });

/** Returns the text of a file in chunks, without a byte order mark. */
async function* readText(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw notUtf8(file, cause);
    }
  };
  for await (const chunk of createReadStream(file)) yield decode(chunk as Uint8Array);
  yield decode();
}

async function* recordsOf(file: string, format: ImportFormat): AsyncGenerator<FileRecord> {
  const records = openRecords(format, MAX_FAILED_LENGTH);
  for await (const chunk of readText(file)) yield* records.read(chunk);
  yield* records.end();
}

async function* readTable(file: string, isPreset: boolean): AsyncGenerator<ReadRecord> {
  let columns: string[] | null = null;
  for await (const record of recordsOf(file, 'csv')) {
    const { line, text: raw, isCut } = record;
    const read = readCsvRecord(record);
    if (!read) continue;
    if ('problem' in read) {
      if (!columns) throw new CliError(`The header of ${file} can’t be read. ${read.problem}`);
      yield { line, raw, isCut, fields: null, problem: read.problem };
    } else if (!columns) columns = read.cells.map((cell) => cell.trim());
    else if (isPreset) {
      const row = columns.map((name, i) => [name, fromCell((read.cells[i] ?? '').trim())]);
      yield { line, raw, fields: Object.fromEntries(row) as Fields };
    } else {
      const fields = readFields(columns, read.cells);
      if ('problem' in fields) yield { line, raw, fields: null, problem: fields.problem };
      else yield { line, raw, fields: fields.value };
    }
  }
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

async function* readJsonLines(file: string): AsyncGenerator<ReadRecord> {
  for await (const record of recordsOf(file, 'ndjson')) {
    const { line, text: raw, isCut } = record;
    const read = readJsonRecord(record);
    if (!read) continue;
    if ('problem' in read) yield { line, raw, isCut, fields: null, problem: read.problem };
    else yield { line, raw, fields: isObject(read.value) ? read.value : null };
  }
}

/** Returns undefined for text that isn't JSON. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Reads a JSON list, or an API's page with the list in `data` or `items`. */
async function* readJson(file: string): AsyncGenerator<ReadRecord> {
  const bytes = await readFile(file);
  if (!isUtf8(bytes)) throw notUtf8(file, null);
  const parsed = parse(bytes.toString().replace(/^\uFEFF/, ''));
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
export const readRecords = (file: string, isPreset: boolean): AsyncGenerator<ReadRecord> => {
  if (isCsv(file)) return readTable(file, isPreset);
  return extname(file).toLowerCase() === '.json' ? readJson(file) : readJsonLines(file);
};

export const isCsv = (file: string): boolean => extname(file).toLowerCase() === '.csv';

/** Returns the header of a CSV file. */
export const readHeader = async (file: string): Promise<string> => {
  for await (const record of recordsOf(file, 'csv')) if (readCsvRecord(record)) return record.text;
  return '';
};
