import {
  type Fields,
  openCopies,
  readCsvRecord,
  readFields,
  readJsonRecord,
  type RecordProblem,
} from '../../shared/rules/import-lines.ts';
import { type FileRecord, type ImportFormat, openRecords } from '../../shared/rules/records.ts';
import { MAX_FAILED_LENGTH, MAX_PART_LENGTH, MAX_PART_LINES } from '../../shared/rules/transfer-limits.ts';

// Splits a file of licenses into parts that an import accepts, without reading the whole file at once.

export interface FilePart {
  body: string;
  /** The header of a CSV file. */
  header: string | undefined;
  /** The records of the file by the numbers of their lines in the body. */
  records: Map<number, FileRecord>;
  /** The records that can't be read, and so are not in the body. */
  unreadable: (FileRecord & RecordProblem)[];
  /** How much of the file was read, from 0 to 1. */
  progress: number;
}

const countBreaks = (text: string) => text.match(/\r\n|\n|\r/g)?.length ?? 0;

/** Returns the text to send for a record, or why it can't be read. Null is an empty row, and the header of a CSV file. */
type ToText = (record: FileRecord) => string | RecordProblem | null;

interface Reader {
  toText: ToText;
  /** The first line of the file, and of each part. Only CSV files have one. */
  header: () => { inFile: string; inPart: string } | undefined;
}

/** Adds a column with the number of the line among equal lines of the file, unless the file has one. */
const openCsv = (): Reader => {
  const copyOf = openCopies();
  let columns: string[] | null = null;
  let header: ReturnType<Reader['header']>;
  return {
    header: () => header,
    toText: (record) => {
      const read = readCsvRecord(record);
      if (!columns) {
        if (!read) return null;
        if ('problem' in read) throw new Error(`The header can’t be read. ${read.problem}`);
        columns = read.cells.map((name) => name.trim());
        const isNumbered = columns.includes('copy');
        header = { inFile: record.text, inPart: isNumbered ? record.text : `${record.text},copy` };
        return null;
      }
      if (!read || 'problem' in read) return read;
      const fields = readFields(columns, read.cells);
      if ('problem' in fields) return fields;
      if (columns.includes('copy')) return record.text;
      const missing = ','.repeat(columns.length - read.cells.length + 1);
      return `${record.text}${missing}${copyOf(fields.value) ?? ''}`;
    },
  };
};

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Adds the number of the line among equal lines of the file. */
const openNdjson = (): Reader => {
  const copyOf = openCopies();
  return {
    header: () => undefined,
    toText: (record) => {
      const read = readJsonRecord(record);
      if (!read || 'problem' in read) return read;
      const copy = isFields(read.value) ? copyOf(read.value) : undefined;
      return copy === undefined ? record.text : JSON.stringify({ ...(read.value as Fields), copy });
    },
  };
};

const openPart = (header: { inFile: string; inPart: string } | undefined) => {
  const records: FilePart['records'] = new Map();
  const unreadable: FilePart['unreadable'] = [];
  let unreadableLength = 0;
  let body = header ? `${header.inPart}\n` : '';
  let line = countBreaks(body) + 1;
  return {
    add: (record: FileRecord, text: string) => {
      records.set(line, record);
      body += `${text}\n`;
      line += countBreaks(text) + 1;
    },
    addUnreadable: (record: FileRecord, problem: RecordProblem) => {
      unreadable.push({ ...record, ...problem });
      unreadableLength += record.text.length;
    },
    isFull: () =>
      records.size + unreadable.length >= MAX_PART_LINES || body.length + unreadableLength >= MAX_PART_LENGTH,
    take: (progress: number): FilePart => ({ body, header: header?.inFile, records, unreadable, progress }),
  };
};

/** Returns a file with these records. */
export const toFile = (header: string | undefined, records: Pick<FileRecord, 'text'>[]): string =>
  [...(header === undefined ? [] : [header]), ...records.map(({ text }) => text)]
    .map((text) => `${text}\n`)
    .join('');

const openDecoder = () => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return (bytes: ArrayBuffer, options: TextDecodeOptions): string => {
    try {
      return decoder.decode(bytes, options);
    } catch {
      throw new Error('The file isn’t UTF-8. Save it as UTF-8, and choose it again.');
    }
  };
};

const SLICE_BYTES = 65_536;

/** Returns the records of a file, and how much of it was read. */
async function* recordsOf(file: Blob, format: ImportFormat) {
  const decode = openDecoder();
  const records = openRecords(format, MAX_FAILED_LENGTH);
  for (let start = 0; start < file.size; start += SLICE_BYTES) {
    const end = start + SLICE_BYTES;
    const bytes = await file.slice(start, end).arrayBuffer();
    const progress = Math.min(1, end / file.size);
    for (const record of records.read(decode(bytes, { stream: end < file.size }))) yield { record, progress };
  }
  for (const record of records.end()) yield { record, progress: 1 };
}

/** Returns the parts of a file. Each part of a CSV file starts with the header. */
export async function* partsOf(file: Blob, format: ImportFormat): AsyncGenerator<FilePart> {
  const { toText, header } = format === 'csv' ? openCsv() : openNdjson();
  let part: ReturnType<typeof openPart> | null = null;
  for await (const { record, progress } of recordsOf(file, format)) {
    const text = toText(record);
    if (text === null) continue;
    part ??= openPart(header());
    if (typeof text === 'string') part.add(record, text);
    else part.addUnreadable(record, text);
    if (part.isFull()) {
      yield part.take(progress);
      part = null;
    }
  }
  if (part) yield part.take(1);
}
