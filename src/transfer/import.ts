import type { Ctx } from '../db/ctx.ts';
import { type BatchLine, type Import, importBatch } from './batch.ts';
import { openKeys } from './license-key.ts';
import { type ImportFormat, type ReadLine, readLines } from './lines.ts';
import type { Outcome } from './plan.ts';
import {
  failed,
  type ImportOptions,
  type ImportResult,
  type ParsedLine,
  parseLine,
  RESULTS,
} from './schemas.ts';

const MIN_BATCH_LINES = 450;
/** D1 allows 1,000 queries a request, and a batch makes fewer than 20. */
const MAX_BATCHES = 40;
const MAX_BATCH_BYTES = 500_000;

export interface ImportInput {
  ctx: Ctx;
  format: ImportFormat;
  text: string;
  /** Whether the body was longer than an import may be, and `text` is its beginning. */
  isCut: boolean;
  options: ImportOptions;
  serviceHost: string;
}

type Numbered = { line: number; parsed: ParsedLine };

const parse = (read: ReadLine): Numbered => ({
  line: read.line,
  parsed: 'problem' in read ? failed('invalid_line', read.problem) : parseLine(read.value),
});

/** Returns the lines of the text, and for a body that was cut a last one that says so. */
function* parseLines({ format, text, isCut }: ImportInput): Generator<Numbered & { size: number }> {
  const whole = isCut ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  let line = 0;
  for (const read of readLines(format, whole)) {
    ({ line } = read);
    yield { ...parse(read), size: 'value' in read ? JSON.stringify(read.value).length : 0 };
  }
  const tooLarge = 'The body is longer than 5 MiB. Send the lines from here on in another request.';
  if (isCut) yield { line: line + 1, parsed: failed('body_too_large', tooLarge), size: 0 };
}

function* inBatches(input: ImportInput): Generator<Numbered[]> {
  const lines = input.text.split('\n').length;
  const maxLines = Math.max(MIN_BATCH_LINES, Math.ceil(lines / MAX_BATCHES));
  let batch: Numbered[] = [];
  let bytes = 0;
  for (const { size, ...line } of parseLines(input)) {
    if (batch.length === maxLines || bytes + size > MAX_BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(line);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

const toAnswer = (line: number, outcome: Outcome) =>
  'error' in outcome ? { line, result: 'failed' as const, error: outcome.error } : { line, ...outcome };

/** Imports lines in batches. Yields the answers of each batch after its commit, and finally the totals. */
export async function* importLines(input: ImportInput): AsyncGenerator<object[]> {
  const { ctx, options, serviceHost } = input;
  const keyOf = openKeys(ctx);
  const assumed = { licenses: new Map(), products: new Map() };
  const current: Import = { ctx, options, serviceHost, assumed, webhooks: null, isRecorded: false };
  const totals = Object.fromEntries(RESULTS.map((result) => [result, 0])) as Record<ImportResult, number>;
  let lines = 0;
  for (const batch of inBatches(input)) {
    const withKeys = batch.map(({ parsed }): BatchLine => ({
      ...parsed,
      licenseKey: parsed.type === 'license' ? keyOf(parsed.value) : '',
    }));
    const outcomes = await importBatch(current, withKeys);
    const answers = batch.map(({ line }, i) => toAnswer(line, outcomes[i] ?? { result: 'skipped' }));
    for (const { result } of answers) totals[result]++;
    lines += answers.length;
    yield answers;
  }
  yield [{ totals: { lines, ...totals } }];
}
