import {
  readCsvRecord,
  readFields,
  readJsonRecord,
  type RecordProblem,
} from '../shared/rules/import-lines.ts';
import { type FileRecord, type ImportFormat, openRecords, type Records } from '../shared/rules/records.ts';
import type { Body } from './body.ts';

// Reads the lines of an import's body.

/** A line of the body: its value, or why it can't be read. An empty line, and the header, have neither. */
export type ReadLine = { line: number; length: number } & (
  | { value: unknown }
  | RecordProblem
  | typeof TOO_LARGE
  | { isEmpty: true }
);

const TOO_LARGE = {
  code: 'body_too_large',
  problem: 'The body is longer than 5 MiB. Send the lines from here on in another request.',
} as const;

/** The last line of a body that was cut is only a part of a line. */
function* recordsOf(records: Records, { chunks, isCut }: Body): Generator<FileRecord> {
  for (const chunk of chunks) yield* records.read(chunk);
  if (!isCut) yield* records.end();
}

const toColumns = (cells: string[]) => cells.map((name) => name.trim());

const openCsvReader = () => {
  let columns: string[] | null = null;
  return (record: FileRecord) => {
    const read = readCsvRecord(record);
    if (!read || !('cells' in read)) return read;
    if (columns) return readFields(columns, read.cells);
    columns = toColumns(read.cells);
    return null;
  };
};

/** Returns the lines of a body, and for a body that was cut a last one that says so. */
export function* readLines(format: ImportFormat, body: Body): Generator<ReadLine> {
  const records = openRecords(format);
  const read = format === 'csv' ? openCsvReader() : readJsonRecord;
  for (const record of recordsOf(records, body)) {
    yield { line: record.line, length: record.text.length, ...(read(record) ?? { isEmpty: true }) };
  }
  if (body.isCut) yield { line: records.line(), length: 0, ...TOO_LARGE };
}

/** Reads the names of the columns from a CSV body, or returns why it can't. An empty body has none. */
export const readHeader = (body: Body): string[] | RecordProblem => {
  for (const record of recordsOf(openRecords('csv'), body)) {
    const read = readCsvRecord(record);
    if (read) return 'cells' in read ? toColumns(read.cells) : read;
  }
  return [];
};
