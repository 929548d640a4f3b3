import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { type CsvRecord, firstRecord, fromCell } from '../../../shared/rules/csv.ts';
import { type Fields, readFields } from '../../../shared/rules/import-lines.ts';
import { CliError } from '../failure.ts';

/** A record of a file: a line of JSON, an element of a JSON list, or a row of a CSV file. */
export interface FileRecord {
  line: number;
  /** As it is in the file. */
  raw: string;
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

/** Returns the lines of a file, and the line break after each. */
async function* readLines(file: string): AsyncGenerator<{ line: number; text: string; end: string }> {
  let line = 0;
  let rest = '';
  for await (const chunk of readText(file)) {
    // The next chunk may go on with the other half of a line break.
    const parts = (rest + chunk).split(/(\r\n|\n|\r(?!$))/);
    rest = parts.pop() ?? '';
    for (let i = 0; i < parts.length; i += 2) {
      line++;
      yield { line, text: parts[i] ?? '', end: parts[i + 1] ?? '' };
    }
  }
  if (rest !== '') yield { line: line + 1, text: rest.replace(/\r$/, ''), end: '' };
}

/** Joins the lines of each record. A record ends where its quotes are closed. */
async function* readCsvRecords(file: string): AsyncGenerator<CsvRecord & { raw: string }> {
  let raw = '';
  let first = 0;
  let record: CsvRecord | undefined;
  for await (const { line, text, end } of readLines(file)) {
    if (raw === '') first = line;
    raw += text;
    // Only a quote can end the record.
    if (!record || text.includes('"')) record = firstRecord(raw);
    if (!record?.isUnfinished) {
      if (record) yield { ...record, line: first, raw };
      [raw, record] = ['', undefined];
    } else raw += end;
  }
  if (record) yield { ...record, line: first, raw };
}

async function* readTable(file: string, isPreset: boolean): AsyncGenerator<FileRecord> {
  let columns: string[] | null = null;
  for await (const { line, cells, isUnfinished, raw } of readCsvRecords(file)) {
    if (!columns) {
      columns = cells.map((cell) => cell.trim());
      continue;
    }
    const read = readFields(isPreset ? [] : columns, isPreset ? [] : cells, isUnfinished);
    if ('problem' in read) yield { line, raw, fields: null, problem: read.problem };
    else if (!isPreset) yield { line, raw, fields: read.value };
    else {
      const row = columns.map((name, i) => [name, fromCell((cells[i] ?? '').trim())]);
      yield { line, raw, fields: Object.fromEntries(row) as Fields };
    }
  }
}

const isObject = (value: unknown): value is Fields =>
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
export const readRecords = (file: string, isPreset: boolean): AsyncGenerator<FileRecord> => {
  if (isCsv(file)) return readTable(file, isPreset);
  return extname(file).toLowerCase() === '.json' ? readJson(file) : readJsonLines(file);
};

export const isCsv = (file: string): boolean => extname(file).toLowerCase() === '.csv';

/** Returns the header of a CSV file. */
export const readHeader = async (file: string): Promise<string> => {
  for await (const { raw } of readCsvRecords(file)) return raw;
  return '';
};
