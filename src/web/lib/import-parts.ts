// Splits a file of licenses into parts that an import accepts, without reading the whole file at once.

export type ImportFormat = 'csv' | 'ndjson';

/** A line of the file. In a CSV file, it can contain line breaks within quotes. */
export interface FileLine {
  /** Its number in the file, from 1. */
  number: number;
  text: string;
}

export interface Part {
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

const toPart = (header: FileLine | undefined, lines: FileLine[], progress: number): Part => {
  const numbered = new Map<number, FileLine>();
  let number = 1;
  for (const line of header ? [header, ...lines] : lines) {
    if (line !== header) numbered.set(number, line);
    number += countBreaks(line.text) + 1;
  }
  return { body: toFile(header?.text, lines), header: header?.text, lines: numbered, progress };
};

/** Returns a file with these lines. */
export const toFile = (header: string | undefined, lines: FileLine[]): string =>
  [...(header === undefined ? [] : [header]), ...lines.map(({ text }) => text)]
    .map((text) => `${text}\n`)
    .join('');

/** Returns the parts of a file. Each part of a CSV file starts with the header. */
export async function* partsOf(
  file: Blob,
  format: ImportFormat,
  partBytes = PART_BYTES,
): AsyncGenerator<Part> {
  const decoder = new TextDecoder();
  let [rest, number] = ['', 1];
  let header: FileLine | undefined;
  for (let end = partBytes; end - partBytes < file.size; end += partBytes) {
    const bytes = await file.slice(end - partBytes, end).arrayBuffer();
    const isLast = end >= file.size;
    const text = rest + decoder.decode(bytes, { stream: !isLast });
    const split = splitLines(isLast ? `${text}\n` : text, format, number);
    ({ rest, number } = split);
    if (isLast && rest.trim() !== '') split.lines.push({ number, text: rest.trimEnd() });
    if (rest.length > MAX_LINE_LENGTH)
      throw new Error(`Line ${number} doesn’t end. A quote that isn’t closed may be the cause.`);
    if (format === 'csv') header ??= split.lines.shift();
    if (split.lines.length > 0) yield toPart(header, split.lines, Math.min(1, end / file.size));
  }
}
