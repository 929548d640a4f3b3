import type { Fields } from '../../shared/rules/import-lines.ts';
import { isRepeated } from '../../shared/rules/import/failed-file.ts';
import type { Reading, RowOutcome } from '../../shared/rules/import/reading.ts';
import type { SourceRow } from '../../shared/rules/import/rows.ts';
import {
  importRows,
  type ImportTotals,
  type PartAnswer,
  type RowResult,
  toPartAnswer,
} from '../../shared/rules/import/run.ts';
import { MAX_FAILED_LENGTH } from '../../shared/rules/transfer-limits.ts';
import type { ChosenFile } from '../lib/import-source.ts';
import { checked } from './client.ts';
import { ApiError, unreachable } from './error.ts';

export const CONFLICTS = ['fail', 'skip', 'update'] as const;

export interface ImportJob {
  source: ChosenFile;
  reading: Reading;
  outcomeOf: (row: SourceRow) => RowOutcome;
  onConflict: (typeof CONFLICTS)[number];
  allowsLabels: boolean;
  hasEvents: boolean;
}

export interface ImportSummary {
  counts: ImportTotals;
  /** How many rows are left out, by the reason. */
  leftOut: Map<string, number>;
  /** How many rows that failed before may be meant as licenses beside those that exist. */
  repeated: number;
  /** The first of the failed rows: the page keeps only so many. */
  failed: RowResult[];
  failedLength: number;
  /** The first of the others. */
  taken: RowResult[];
  /** The rows so far, after which an import that was stopped goes on. */
  rows: number;
  /** From 0 to 1. */
  progress: number;
}

const EMPTY: ImportSummary = {
  counts: { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 },
  leftOut: new Map(),
  repeated: 0,
  failed: [],
  failedLength: 0,
  taken: [],
  rows: 0,
  progress: 0,
};

const MAX_TAKEN = 20;
/** Enough to wait for the end of another import or export of the account. */
const MAX_ATTEMPTS = 12;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 5_000;
/** What the pace of the account asks for. A limit of the day isn't waited for. */
const MAX_PACE_MS = 60_000;

const readAnswer = async (response: Response): Promise<PartAnswer> => {
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(error);
  });
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const values = whole.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Fields]));
  const answer = toPartAnswer(values);
  if (!answer) throw unreachable('The answer was cut off.');
  return answer;
};

const mayRetry = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  (error.isTransient || (error.status === 429 && (error.retryAfterMs ?? Infinity) <= MAX_PACE_MS));

const wait = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });

/** Sends a part, and sends it again if the answer is lost. The service then ends in the same state. */
const openSend =
  ({ onConflict, allowsLabels, hasEvents }: ImportJob, isDryRun: boolean, signal: AbortSignal) =>
  async (body: string, cursor: string | null): Promise<PartAnswer> => {
    const query = new URLSearchParams({
      on_conflict: onConflict,
      dry_run: String(isDryRun),
      allow_unknown_product: String(allowsLabels),
      events: String(hasEvents && !isDryRun),
      ...(cursor !== null && { cursor }),
    }).toString();
    for (let attempt = 1; ; attempt++) {
      try {
        return await checked(
          fetch(`/api/v1/licenses/import?${query}`, {
            method: 'POST',
            headers: { 'content-type': 'application/x-ndjson' },
            body,
            signal,
          }),
        ).then(readAnswer);
      } catch (error) {
        if (signal.aborted || attempt === MAX_ATTEMPTS || !mayRetry(error)) throw error;
        await wait(error.retryAfterMs ?? Math.min(MAX_RETRY_MS, RETRY_MS * attempt), signal);
      }
    }
  };

const withResults = (before: ImportSummary, results: RowResult[]): ImportSummary => {
  const summary = {
    ...before,
    counts: { ...before.counts },
    leftOut: new Map(before.leftOut),
    failed: [...before.failed],
    taken: [...before.taken],
  };
  for (const found of results) {
    const { result, reason, row } = found;
    if (result === 'left out') summary.leftOut.set(reason, (summary.leftOut.get(reason) ?? 0) + 1);
    else summary.counts[result]++;
    if (isRepeated(found)) summary.repeated++;
    if (result === 'failed' && summary.failedLength <= MAX_FAILED_LENGTH) {
      summary.failed.push(found);
      summary.failedLength += row.text.length + reason.length;
    } else if (found.line && result !== 'failed' && summary.taken.length < MAX_TAKEN)
      summary.taken.push(found);
  }
  return summary;
};

/** Imports a file, or goes on after the rows of an import that was stopped. */
export const runImport = async (
  job: ImportJob,
  { isDryRun, before = EMPTY }: { isDryRun: boolean; before?: ImportSummary | undefined },
  onProgress: (summary: ImportSummary) => void,
  signal: AbortSignal,
): Promise<ImportSummary> => {
  const { source, outcomeOf } = job;
  let summary = before;
  const send = openSend(job, isDryRun, signal);
  for await (const part of importRows(source.rows(), outcomeOf, send, { isDryRun, after: before.rows })) {
    signal.throwIfAborted();
    const progress = Math.min(1, part.length / Math.max(1, source.file.size));
    summary = { ...withResults(summary, part.results), rows: part.rows, progress };
    onProgress(summary);
  }
  return { ...summary, progress: 1 };
};
