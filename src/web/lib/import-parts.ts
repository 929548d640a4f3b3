import { firstRecord } from '../../shared/rules/csv.ts';
import { type Fields, openCopies, readFields, type ImportFormat } from '../../shared/rules/import-lines.ts';

// Splits a file of licenses into parts that an import accepts, without reading the whole file at once.

/** A line of the file. In a CSV file, it can contain line breaks within quotes. */
export interface FileLine {
  /** Its number in the file, from 1. */
  number: number;
  text: string;
}

export interface FilePart {
  body: string;
  /** The header of a CSV file. */
  header: string | undefined;
  /** The lines of the file by their numbers in the body. */
  lines: Map<number, FileLine>;
  /** How much of the file was read, from 0 to 1. */
  progress: number;
}

/** An import accepts 5 MiB. Smaller parts show their progress earlier. */
const PART_BYTES = 1_048_576;
/** A line has no end if its last quote is missing. */
const MAX_LINE_LENGTH = 2 * PART_BYTES;

const countBreaks = (text: string) => text.match(/\r\n|\n|\r/g)?.length ?? 0;

/** Returns where the first line of a CSV text ends, or -1. A quote at the start of a field opens it. */
const csvLineEnd = (text: string, start: number): number => {
  let isQuoted = false;
  let isFieldStart = true;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (isQuoted) {
      // A doubled quote closes the field and opens it again.
      if (character === '"') isQuoted = text[i + 1] === '"' && text[++i] !== undefined;
    } else if (character === '\n') return i;
    else {
      isQuoted = isFieldStart && character === '"';
      isFieldStart = character === ',';
    }
  }
  return -1;
};

const lineEnd: Record<ImportFormat, (text: string, start: number) => number> = {
  csv: csvLineEnd,
  ndjson: (text, start) => text.indexOf('\n', start),
};

/** Splits the complete lines off a text, and returns them with the rest. */
const splitLines = (text: string, format: ImportFormat, firstNumber: number) => {
  const lines: FileLine[] = [];
  let [start, number] = [0, firstNumber];
  for (;;) {
    const end = lineEnd[format](text, start);
    if (end === -1) return { lines, rest: text.slice(start), number };
    const line = text.slice(start, end).replace(/\r$/, '');
    if (line.trim() !== '') lines.push({ number, text: line });
    number += countBreaks(line) + 1;
    start = end + 1;
  }
};

/** Returns the text to send for a line, which has the number of the line among equal lines of the file. */
type Numbering = (text: string) => string;

/** Adds a column with the numbers, unless the file has one. A line that can't be read stays one that can't be read. */
const numberCsv = (header: string): { header: string; numbered: Numbering } => {
  const columns = (firstRecord(header)?.cells ?? []).map((name) => name.trim());
  if (columns.includes('copy')) return { header, numbered: (text) => text };
  const copyOf = openCopies();
  const numbered = (text: string) => {
    const { cells = [], isUnfinished = true } = firstRecord(text) ?? {};
    const read = readFields(columns, cells, isUnfinished);
    if ('problem' in read) return isUnfinished ? text : `${text},`;
    return `${text}${','.repeat(columns.length - cells.length + 1)}${copyOf(read.value) ?? ''}`;
  };
  return { header: `${header},copy`, numbered };
};

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const numberNdjson = (): Numbering => {
  const copyOf = openCopies();
  return (text) => {
    try {
      const value: unknown = JSON.parse(text);
      const copy = isFields(value) ? copyOf(value) : undefined;
      return copy === undefined ? text : JSON.stringify({ ...(value as Fields), copy });
    } catch {
      return text;
    }
  };
};

/** Makes parts of lines. The first line of a CSV file is its header. */
const openParts = (format: ImportFormat) => {
  let header: string | undefined;
  let sent: { header?: string; numbered: Numbering } = { numbered: numberNdjson() };
  return (lines: FileLine[], progress: number): FilePart => {
    if (format === 'csv' && header === undefined) {
      header = lines.shift()?.text ?? '';
      sent = numberCsv(header);
    }
    const texts = lines.map(({ text }) => sent.numbered(text));
    const numbered = new Map<number, FileLine>();
    let number = sent.header === undefined ? 1 : countBreaks(sent.header) + 2;
    for (const [i, line] of lines.entries()) {
      numbered.set(number, line);
      number += countBreaks(texts[i] ?? '') + 1;
    }
    return { body: toText(sent.header, texts), header, lines: numbered, progress };
  };
};

const toText = (header: string | undefined, texts: string[]): string =>
  [...(header === undefined ? [] : [header]), ...texts].map((text) => `${text}\n`).join('');

/** Returns a file with these lines. */
export const toFile = (header: string | undefined, lines: FileLine[]): string =>
  toText(
    header,
    lines.map(({ text }) => text),
  );

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

/** Returns the parts of a file. Each part of a CSV file starts with the header. */
export async function* partsOf(
  file: Blob,
  format: ImportFormat,
  partBytes = PART_BYTES,
): AsyncGenerator<FilePart> {
  const decode = openDecoder();
  const toPart = openParts(format);
  let [rest, number] = ['', 1];
  for (let end = partBytes; end - partBytes < file.size; end += partBytes) {
    const bytes = await file.slice(end - partBytes, end).arrayBuffer();
    const isLast = end >= file.size;
    const text = rest + decode(bytes, { stream: !isLast });
    const split = splitLines(isLast ? `${text}\n` : text, format, number);
    ({ rest, number } = split);
    if (isLast && rest.trim() !== '') split.lines.push({ number, text: rest.trimEnd() });
    if (rest.length > MAX_LINE_LENGTH)
      throw new Error(`Line ${number} doesn’t end. A quote that isn’t closed may be the cause.`);
    if (split.lines.length > 0) yield toPart(split.lines, Math.min(1, end / file.size));
  }
}
