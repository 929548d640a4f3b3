import { type Fields, openDryRun } from '../../shared/rules/import-lines.ts';
import type { FileRecord, ImportFormat } from '../../shared/rules/records.ts';
import { MAX_FAILED_LENGTH } from '../../shared/rules/transfer-limits.ts';
import { type FilePart, partsOf } from '../lib/import-parts.ts';
import { checked } from './client.ts';
import { ApiError, unreachable } from './error.ts';

const RESULTS = ['created', 'updated', 'unchanged', 'skipped', 'failed'] as const;
type ImportResult = (typeof RESULTS)[number];
export type ImportCounts = Record<ImportResult, number>;

export interface ImportRequest {
  file: File;
  format: ImportFormat;
  onConflict: 'fail' | 'skip' | 'update';
  isDryRun: boolean;
  hasEvents: boolean;
}

type FailedLine = Pick<FileRecord, 'line' | 'text' | 'isCut'> & { reason: string };

export interface ImportSummary {
  counts: ImportCounts;
  /** The first of the failed lines: the page keeps only so many. */
  failed: FailedLine[];
  /** The header of a CSV file. */
  header: string | undefined;
}

interface LineError {
  code: string;
  message: string;
  details?: { path: string; message: string }[];
}

interface Result {
  line: number;
  result: ImportResult;
  error?: LineError;
}
type AnswerLine = Result | { totals: object; next_cursor: string | null };

const CONTENT_TYPES: Record<ImportFormat, string> = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/** Enough to wait for the end of another import or export of the account. */
const MAX_ATTEMPTS = 12;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 5_000;

const toReason = ({ message, details = [] }: LineError): string =>
  details.length === 0 ? message : details.map(({ path, message: text }) => `${path} ${text}`).join('; ');

interface PartAnswer {
  results: Result[];
  /** Where the service has stopped, if the part is more than one request may do. */
  cursor: string | null;
}

const readAnswer = async (response: Response): Promise<PartAnswer> => {
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(error);
  });
  const results: Result[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const answer: AnswerLine = JSON.parse(line);
    if (!('totals' in answer)) results.push(answer);
    // The last result then tells of the first line that is still to come.
    else return { results: answer.next_cursor ? results.slice(0, -1) : results, cursor: answer.next_cursor };
  }
  throw unreachable('The answer was cut off.');
};

const queryOf = ({ onConflict, isDryRun, hasEvents }: ImportRequest, cursor: string | null) =>
  new URLSearchParams({
    on_conflict: onConflict,
    dry_run: String(isDryRun),
    events: String(hasEvents),
    ...(cursor && { cursor }),
  }).toString();

/** Sends a part, and sends it again if the answer is lost. The service then ends in the same state. */
const sendPart = async (
  request: ImportRequest,
  { body }: FilePart,
  cursor: string | null,
  signal: AbortSignal,
): Promise<PartAnswer> => {
  const send = () =>
    checked(
      fetch(`/api/v1/licenses/import?${queryOf(request, cursor)}`, {
        method: 'POST',
        headers: { 'content-type': CONTENT_TYPES[request.format] },
        body,
        signal,
      }),
    ).then(readAnswer);
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (signal.aborted || attempt === MAX_ATTEMPTS) throw error;
      if (!(error instanceof ApiError) || !error.isTransient) throw error;
      const waitMs = error.retryAfterMs ?? Math.min(MAX_RETRY_MS, RETRY_MS * attempt);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
};

/** Sends a part until the service has taken all of its lines. */
async function* sendWhole(request: ImportRequest, part: FilePart, signal: AbortSignal) {
  let cursor: string | null = null;
  do {
    const answer: PartAnswer = await sendPart(request, part, cursor, signal);
    yield* answer.results;
    ({ cursor } = answer);
  } while (cursor);
}

/** The fields of a line of JSON. Machines, which need their licenses, are only in such files. */
const fieldsOf = (text: string): Fields => {
  try {
    return (JSON.parse(text) as Fields | null) ?? {};
  } catch {
    return {};
  }
};

/** Keeps the first failed lines. */
const openFailed = () => {
  const failed: FailedLine[] = [];
  let length = 0;
  return {
    failed,
    add: ({ line, text, isCut }: Pick<FileRecord, 'line' | 'text' | 'isCut'>, reason: string) => {
      if (length > MAX_FAILED_LENGTH) return;
      failed.push({ line, text, isCut, reason });
      length += text.length + reason.length;
    },
  };
};

/** Imports a file part by part, because a later line can need an earlier one. */
export const importFile = async (
  request: ImportRequest,
  onProgress: (progress: number) => void,
  signal: AbortSignal,
): Promise<ImportSummary> => {
  const counts: ImportCounts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };
  const { failed, add } = openFailed();
  let header: string | undefined;
  const isPromised = openDryRun();
  const isInDryRun = request.isDryRun && request.format === 'ndjson';
  onProgress(0);
  for await (const part of partsOf(request.file, request.format)) {
    header ??= part.header;
    for (const { problem, ...record } of part.unreadable)
      add(record, record.isCut ? `${problem} It can’t be downloaded, so correct it in the file.` : problem);
    counts.failed += part.unreadable.length;
    for await (const answer of part.records.size > 0 ? sendWhole(request, part, signal) : []) {
      const record = part.records.get(answer.line) ?? { line: answer.line, text: '', isCut: false };
      const result = isInDryRun && isPromised(fieldsOf(record.text), answer) ? 'created' : answer.result;
      counts[result]++;
      if (result === 'failed' && answer.error) add(record, toReason(answer.error));
    }
    onProgress(part.progress);
  }
  return { counts, failed, header };
};
