import { type Fields, openDryRun } from '../import-lines.ts';
import { LICENSE_FIELDS } from '../license-fields.ts';
import { MAX_LINE_LENGTH, MAX_PART_LENGTH, MAX_PART_LINES } from '../transfer-limits.ts';
import { openCopies } from './copies.ts';
import type { RowOutcome } from './reading.ts';
import type { SourceRow } from './rows.ts';

// Imports the rows of a file part by part, because a later line can need an earlier one. The dashboard and the tool only
// differ in how they send a part.

export const RESULTS = ['created', 'updated', 'unchanged', 'skipped', 'failed'] as const;
export type LineResult = (typeof RESULTS)[number];
export type ImportTotals = Record<LineResult, number>;

/** What the service answers to a line. */
export interface LineAnswer {
  line: number;
  result: LineResult;
  error?:
    | { code: string; message: string; details?: { path: string; message: string }[] | undefined }
    | undefined;
}

export interface PartAnswer {
  results: LineAnswer[];
  /** Where the service has stopped, if the part is more than one request may do. */
  cursor: string | null;
}

/** Reads the values of an answer, or returns null if it was cut off. */
export const toPartAnswer = (values: unknown[]): PartAnswer | null => {
  const results: LineAnswer[] = [];
  for (const value of values) {
    const line = value as LineAnswer | { totals: object; next_cursor?: string | null };
    if (!('totals' in line)) results.push(line);
    else if (!line.next_cursor) return { results, cursor: null };
    // The last result tells of the first line that is still to come.
    else return { results: results.slice(0, -1), cursor: line.next_cursor };
  }
  return null;
};

/** Sends the lines of a part, after those before the cursor. */
type Send = (body: string, cursor: string | null) => Promise<PartAnswer>;

/** What became of a row. */
export interface RowResult {
  row: SourceRow;
  result: LineResult | 'left out';
  /** What was sent, unless nothing was. */
  line: Fields | null;
  /** Why the row failed, or was left out. */
  reason: string;
}

export interface ImportProgress {
  results: RowResult[];
  /** The rows up to and with these, also those that an earlier run has imported. */
  rows: number;
  /** The characters of these rows, or Infinity at the end of the file. */
  length: number;
}

/** Fields of a line that a license doesn't have. */
const LINE_FIELDS = ['duration_days', 'activated_at', 'last_seen_at', 'lease_until'];
const FIELD_NAMES = new RegExp(
  String.raw`\b(${[...Object.keys(LICENSE_FIELDS), ...LINE_FIELDS].filter((name) => name.includes('_')).join('|')})\b`,
  'g',
);
const inWords = (name: string) => name.replaceAll('_', ' ');

/** Entries of the metadata keep the names that somebody has given them. */
const sayField = (path: string) => {
  const [field = '', ...entry] = path.split('.');
  const words = [inWords(field), ...(field === 'metadata' ? entry : entry.map(inWords))].join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Says all that the service has said about a line, with the names of fields as people say them. */
export const reasonOf = ({ error }: Pick<LineAnswer, 'error'>): string => {
  if (!error) return 'The line failed.';
  const { message, details = [] } = error;
  return details.length === 0
    ? message
    : details
        .map((detail) => `${sayField(detail.path)}: ${detail.message.replaceAll(FIELD_NAMES, inWords)}`)
        .join('; ');
};

interface Part {
  body: string;
  rows: { row: SourceRow; line: Fields }[];
  /** What became of the rows that aren't sent. */
  results: RowResult[];
}

const emptyPart = (): Part => ({ body: '', rows: [], results: [] });
const sizeOf = ({ rows, results }: Part) => rows.length + results.length;

const TOO_LONG = `The row has more than ${MAX_LINE_LENGTH} characters.`;

type Next = RowResult | { row: SourceRow; line: Fields; json: string };

/** Returns the line to send, or what became of a row that isn't sent. */
const nextOf = (row: SourceRow, outcome: RowOutcome, copyOf: ReturnType<typeof openCopies>): Next => {
  if ('problem' in outcome) return { row, result: 'failed', line: null, reason: outcome.problem };
  if ('leftOut' in outcome) return { row, result: 'left out', line: null, reason: outcome.leftOut };
  const copy = copyOf(outcome.line);
  const line = copy === undefined ? outcome.line : { ...outcome.line, copy };
  const json = JSON.stringify(line);
  if (json.length > MAX_LINE_LENGTH) return { row, result: 'failed', line: null, reason: TOO_LONG };
  return { row, line, json };
};

async function* sendPart(part: Part, send: Send, isPromised: ReturnType<typeof openDryRun> | null) {
  let cursor: string | null = null;
  do {
    const answer: PartAnswer = part.rows.length > 0 ? await send(part.body, cursor) : { results: [], cursor };
    for (const answered of answer.results) {
      const sent = part.rows[answered.line - 1];
      if (!sent) continue;
      const result = isPromised?.(sent.line, answered) ? 'created' : answered.result;
      yield { ...sent, result, reason: result === 'failed' ? reasonOf(answered) : '' };
    }
    ({ cursor } = answer);
  } while (cursor !== null);
}

interface Options {
  isDryRun: boolean;
  /** The rows that an earlier run has imported. */
  after?: number;
}

/** Imports the rows, and tells after each part what became of them. */
export async function* importRows(
  rows: AsyncIterable<SourceRow>,
  outcomeOf: (row: SourceRow) => RowOutcome,
  send: Send,
  { isDryRun, after = 0 }: Options,
): AsyncGenerator<ImportProgress> {
  const copyOf = openCopies();
  const isPromised = isDryRun ? openDryRun() : null;
  let part = emptyPart();
  let length = 0;
  let count = 0;
  let partLength = 0;

  const flush = async (isLast: boolean): Promise<ImportProgress> => {
    const full = part;
    [part, partLength] = [emptyPart(), 0];
    const results = [...full.results];
    for await (const result of sendPart(full, send, isPromised)) results.push(result);
    const sorted = results.toSorted((a, b) => a.row.line - b.row.line);
    return { results: sorted, rows: count, length: isLast ? Infinity : length };
  };

  for await (const row of rows) {
    const next = nextOf(row, outcomeOf(row), copyOf);
    // The part holds what can't be sent, too, for the file of failed lines.
    const size = Math.max('json' in next ? next.json.length + 1 : 0, row.text.length);
    const isFull = sizeOf(part) === MAX_PART_LINES || partLength + size > MAX_PART_LENGTH;
    if (isFull && sizeOf(part) > 0) yield await flush(false);
    count++;
    length += row.text.length + 1;
    if (count <= after) continue;
    partLength += size;
    if ('json' in next) {
      part.rows.push({ row, line: next.line });
      part.body += `${next.json}\n`;
    } else part.results.push(next);
  }
  if (sizeOf(part) > 0) yield await flush(true);
}
