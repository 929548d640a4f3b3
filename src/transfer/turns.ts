import type { ImportFormat } from '../shared/rules/records.ts';
import type { Body } from './body.ts';
import type { BatchLine } from './import-state.ts';
import { type ReadLine, readLines } from './lines.ts';
import { failed, type LicenseLine, type ParsedLine, parseLine } from './schemas.ts';

// An import works in turns, so that the calls of others go on between them.

/** D1 allows 1,000 queries a request. A turn makes fewer than 20, and a request has at most 52 turns. */
const MAX_TURN_LINES = 500;
const MAX_TURN_LENGTH = 500_000;

type NumberedLine = BatchLine & { line: number };

export interface Turn {
  lines: NumberedLine[];
  /** What was read for it, also of empty lines, and of lines that an earlier request has imported. */
  read: { lines: number; length: number };
}

const parse = (read: Exclude<ReadLine, { isEmpty: true }>): ParsedLine =>
  'problem' in read ? failed(read.code, read.problem) : parseLine(read.value);

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
  const empty = (): Turn => ({ lines: [], read: { lines: 0, length: 0 } });
  let turn = empty();
  for (const read of readLines(format, body)) {
    if (turn.read.lines === MAX_TURN_LINES || turn.read.length + read.length > MAX_TURN_LENGTH) {
      yield turn;
      turn = empty();
    }
    turn.read.lines++;
    turn.read.length += read.length;
    if ('isEmpty' in read) continue;
    const parsed = parse(read);
    const licenseKey = parsed.type === 'license' ? keyOf(parsed.value) : '';
    if (read.line > after) turn.lines.push({ ...parsed, line: read.line, licenseKey });
  }
  yield turn;
}
