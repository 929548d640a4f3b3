import { createHmac } from 'node:crypto';
import type { Ctx } from '../db/ctx.ts';
import { settingsOf } from '../shared/config/settings.ts';
import type { ImportFormat } from '../shared/rules/import-lines.ts';
import { licenseKeyOf } from '../shared/rules/license-key.ts';
import { importBatch } from './batch.ts';
import type { BatchLine, Import } from './import-state.ts';
import { type ReadLine, readLines } from './lines.ts';
import type { LineOutcome } from './plan.ts';
import {
  type ImportOptions,
  type ImportResult,
  type LicenseLine,
  type ParsedLine,
  RESULTS,
  failed,
  parseLine,
} from './schemas.ts';

/**
 * Chooses the keys of lines without a license key. The same line of the same account always gets the same key, so that
 * a file that is sent again creates no license twice. Of equal lines, each gets a key of its own.
 */
const openKeys = ({ env, accountId }: Ctx) => {
  const { apiKeySecrets } = settingsOf(env);
  // The oldest entry, so that a file that is sent again gets the same keys while the secret rotates.
  const apiKeySecret = apiKeySecrets.at(-1) ?? apiKeySecrets[0];
  const copies = new Map<string, number>();

  return (value: LicenseLine): string => {
    if (value.license_key !== undefined) return value.license_key;
    const { copy, ...fields } = value;
    const content = JSON.stringify(fields);
    const number = copy ?? (copies.get(content) ?? 0) + 1;
    copies.set(content, number);
    const mac = createHmac('sha256', apiKeySecret).update(`import ${accountId} ${number} ${content}`);
    return licenseKeyOf(mac.digest());
  };
};

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

const toAnswer = (line: number, outcome: LineOutcome) =>
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
