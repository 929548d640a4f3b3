import { readCsv } from './csv.ts';

// Splits the body of an import into lines.

/** A line of the body: its value, or why it can't be read. */
export type ReadLine = { line: number } & ({ value: unknown } | { problem: string });

export type ImportFormat = 'ndjson' | 'csv';

function* readNdjson(text: string): Generator<ReadLine> {
  let line = 0;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    line++;
    const json = text.slice(start, end).trim();
    start = end + 1;
    if (json === '') continue;
    try {
      yield { line, value: JSON.parse(json) };
    } catch {
      yield { line, problem: 'The line isn’t valid JSON.' };
    }
  }
}

const METADATA_PREFIX = 'metadata.';
const JSON_COLUMNS = new Set(['metadata', 'terms']);
const NUMBER_COLUMNS = new Set(['duration_days', 'copy']);
/** The columns in which `never` stands for a null. */
const NEVER_COLUMNS = new Set(['expires_at', 'updates_until']);

const parseCell = (column: string, cell: string): unknown => {
  if (JSON_COLUMNS.has(column)) return JSON.parse(cell);
  if (NUMBER_COLUMNS.has(column)) return Number(cell);
  return NEVER_COLUMNS.has(column) && cell === 'never' ? null : cell;
};

/** An empty cell is an absent field. */
const toFields = (columns: string[], cells: string[]): Record<string, unknown> => {
  const fields: Record<string, unknown> = {};
  const metadata: Record<string, string> = {};
  for (const [i, column] of columns.entries()) {
    const cell = cells[i] ?? '';
    if (cell.trim() === '') continue;
    if (column.startsWith(METADATA_PREFIX)) metadata[column.slice(METADATA_PREFIX.length)] = cell;
    else fields[column] = parseCell(column, cell.trim());
  }
  if (Object.keys(metadata).length === 0) return fields;
  return { ...fields, metadata: { ...(fields['metadata'] as object | undefined), ...metadata } };
};

const readRecord = (columns: string[], cells: string[]): { value: unknown } | { problem: string } => {
  if (cells.length > columns.length) return { problem: 'The line has more fields than the header.' };
  try {
    return { value: toFields(columns, cells) };
  } catch {
    return { problem: 'The columns metadata and terms must contain JSON.' };
  }
};

/** Reads the names of the columns from a CSV text. */
export const readHeader = (text: string): string[] =>
  (readCsv(text).next().value?.cells ?? []).map((name: string) => name.trim());

function* readCsvLines(text: string): Generator<ReadLine> {
  const columns = readHeader(text);
  let isHeader = true;
  for (const { line, cells, isUnfinished } of readCsv(text)) {
    if (isUnfinished) yield { line, problem: 'The line has a quote that isn’t closed.' };
    else if (!isHeader) yield { line, ...readRecord(columns, cells) };
    isHeader = false;
  }
}

/** Returns the lines of a body without its empty lines. */
export const readLines = (format: ImportFormat, text: string): Generator<ReadLine> =>
  format === 'csv' ? readCsvLines(text) : readNdjson(text);

/** Whether the name is a column that holds one entry of the metadata. */
export const isMetadataColumn = (name: string) =>
  name.startsWith(METADATA_PREFIX) && name.length > METADATA_PREFIX.length;
