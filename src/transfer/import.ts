import { setDetails } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import type { ImportFormat } from '../shared/rules/records.ts';
import { MAX_IMPORT_LINES } from '../shared/rules/transfer-limits.ts';
import { newId } from '../shared/text/ids.ts';
import { logError } from '../shared/text/log.ts';
import { costOfImport, type TakeTurn } from './alone.ts';
import { importBatch } from './batch.ts';
import type { Body } from './body.ts';
import { noEffects } from './effects.ts';
import type { Import } from './import-state.ts';
import { openKeys } from './keys.ts';
import type { LineOutcome } from './plan.ts';
import { auditDetails, type ImportOptions, type ImportResult, RESULTS } from './schemas.ts';
import { readTurns } from './turns.ts';

/** The failed lines of a request whose errors have details. The errors of the others have a code and a message. */
const MAX_DETAILED = 1_000;
/** The characters of what a dry run remembers of the lines before. */
const MAX_ASSUMED_LENGTH = 8_000_000;

export interface ImportInput {
  ctx: Ctx;
  takeTurn: TakeTurn;
  format: ImportFormat;
  body: Body;
  /** The number of the last line that an earlier request has imported, or 0. */
  after: number;
  options: ImportOptions;
  serviceHost: string;
}

/** Makes the answers of lines, and counts them. */
const openAnswers = () => {
  const totals = Object.fromEntries(RESULTS.map((result) => [result, 0])) as Record<ImportResult, number>;
  let lines = 0;

  const toAnswer = (line: number, outcome: LineOutcome) => {
    if (!('error' in outcome)) return { line, ...outcome };
    const { code, message } = outcome.error;
    const error = totals.failed < MAX_DETAILED ? outcome.error : { code, message };
    return { line, result: 'failed' as const, error };
  };

  return {
    answer: (line: number, outcome: LineOutcome) => {
      const answer = toAnswer(line, outcome);
      totals[answer.result]++;
      lines++;
      return answer;
    },
    totals: () => ({ lines, ...totals }),
  };
};

const tooManyLines = (after: number): LineOutcome => {
  const message = `A request imports at most ${MAX_IMPORT_LINES} lines, and fewer if a dry run finds large licenses. Send the same body again with ?cursor=${after}.`;
  return { error: { code: 'too_many_lines', message } };
};

/** The import itself has succeeded, or failed, without the totals. */
const recordTotals = async ({ ctx, options, effects, entryId }: Import, totals: Record<string, number>) => {
  if (options.isDryRun) return;
  try {
    await setDetails(ctx, entryId, 'license.import', auditDetails(options, { ...totals, ...effects }));
  } catch (error) {
    logError('import_totals_not_recorded', error, { account_id: ctx.accountId });
  }
};

/** Imports lines in turns. Yields the answers of each turn after its commit, and finally the totals. */
export async function* importLines(input: ImportInput): AsyncGenerator<object[]> {
  const { ctx, options, serviceHost } = input;
  const assumed = { licenses: new Map(), products: new Map(), length: 0 };
  const entry = { effects: noEffects(), entryId: newId('aud'), isRecorded: false };
  const known = { webhooks: null, noWebhooks: null, products: null, notProducts: new Map<string, string>() };
  const current: Import = { ctx, options, serviceHost, assumed, ...known, ...entry };
  const answers = openAnswers();
  try {
    yield* importTurns(input, current, answers);
  } finally {
    await recordTotals(current, answers.totals());
  }
}

async function* importTurns(
  { ctx, takeTurn, format, body, after: start }: ImportInput,
  current: Import,
  { answer, totals }: ReturnType<typeof openAnswers>,
): AsyncGenerator<object[]> {
  const { assumed } = current;
  let after = start;
  let room = MAX_IMPORT_LINES;
  for (const turn of readTurns(format, body, after, openKeys(ctx))) {
    await takeTurn(costOfImport(turn.read));
    const lines = turn.lines.slice(0, assumed.length < MAX_ASSUMED_LENGTH ? room : 0);
    const outcomes = await importBatch(current, lines);
    if (lines.length > 0)
      yield lines.map(({ line }, i) => answer(line, outcomes[i] ?? { result: 'skipped' }));
    room -= lines.length;
    after = lines.at(-1)?.line ?? after;
    const next = turn.lines[lines.length];
    if (next) {
      yield [answer(next.line, tooManyLines(after)), { totals: totals(), next_cursor: `${after}` }];
      return;
    }
  }
  yield [{ totals: totals(), next_cursor: null }];
}
