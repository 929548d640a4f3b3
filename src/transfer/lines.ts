import { firstRecord, readCsv } from '../shared/rules/csv.ts';
import { readFields, type ImportFormat } from '../shared/rules/import-lines.ts';

// Splits the body of an import into lines.

/** A line of the body: its value, or why it can't be read. */
export type ReadLine = { line: number } & ({ value: unknown } | { problem: string });

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

/** Reads the names of the columns from a CSV text. */
export const readHeader = (text: string): string[] =>
  (firstRecord(text)?.cells ?? []).map((name) => name.trim());

function* readCsvLines(text: string): Generator<ReadLine> {
  const columns = readHeader(text);
  let isHeader = true;
  for (const { line, cells, isUnfinished } of readCsv(text)) {
    // A header without an end is the whole file.
    if (!isHeader || isUnfinished) yield { line, ...readFields(columns, cells, isUnfinished) };
    isHeader = false;
  }
}

/** Returns the lines of a body without its empty lines. */
export const readLines = (format: ImportFormat, text: string): Generator<ReadLine> =>
  format === 'csv' ? readCsvLines(text) : readNdjson(text);
