import type { ImportFormat } from '../shared/rules/records.ts';
import type { Body } from './body.ts';
import type { BatchLine } from './import-state.ts';
import { type ReadLine, readLines } from './lines.ts';
import { failed, type LicenseLine, type ParsedLine, parseLine } from './schemas.ts';

// An import works in turns, so that the calls of others go on between them.

/** D1 allows 1,000 queries a request. A turn that imports lines makes fewer than 20, and a request has at most 52 of those. */
const MAX_TURN_LINES = 500;
const MAX_TURN_LENGTH = 500_000;

/** What an empty line, or one that an earlier request has imported, costs of a line. */
const LINE_NOT_IMPORTED = 0.1;
/** What is read, in lines, before others have their turn. A body that is nothing but empty lines has 525 such turns. */
const MAX_READ_LINES = 1_000;

type NumberedLine = BatchLine & { line: number };

export interface Turn {
  /** Empty for a turn that only reads on. */
  lines: NumberedLine[];
  /** The work since the turn before, also that of lines that are not imported. */
  read: { lines: number; length: number };
}

const parse = (record: Exclude<ReadLine, { isEmpty: true }>): ParsedLine =>
  'problem' in record ? failed(record.code, record.problem) : parseLine(record.value);

/**
 * Reads the lines after the line `after` in turns. The lines before are read too, because equal lines without a license key
 * are numbered from the first line on.
 */
export function* readTurns(
  format: ImportFormat,
  body: Body,
  after: number,
  keyOf: (line: LicenseLine) => string,
): Generator<Turn> {
  let lines: NumberedLine[] = [];
  let linesLength = 0;
  let read = { lines: 0, length: 0 };
  const take = (): Turn => {
    const turn = { lines, read };
    [lines, linesLength, read] = [[], 0, { lines: 0, length: 0 }];
    return turn;
  };
  for (const record of readLines(format, body)) {
    // The line break counts, too: empty lines have nothing else.
    const length = record.length + 1;
    if (lines.length === MAX_TURN_LINES || linesLength + length > MAX_TURN_LENGTH) yield take();
    else if (read.lines >= MAX_READ_LINES) {
      yield { lines: [], read };
      read = { lines: 0, length: 0 };
    }
    linesLength += length;
    const isImported = !('isEmpty' in record) && record.line > after;
    read = { lines: read.lines + (isImported ? 1 : LINE_NOT_IMPORTED), length: read.length + length };
    if ('isEmpty' in record) continue;
    const parsed = parse(record);
    const licenseKey = parsed.type === 'license' ? keyOf(parsed.value) : '';
    if (isImported) lines.push({ ...parsed, line: record.line, licenseKey });
  }
  yield take();
}
