import { type Fields, openDryRun, type ImportFormat } from '../../shared/rules/import-lines.ts';
import { type FileLine, type FilePart, partsOf } from '../lib/import-parts.ts';
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

interface FailedLine extends FileLine {
  reason: string;
}

export interface ImportSummary {
  counts: ImportCounts;
  failed: FailedLine[];
  /** The header of a CSV file. */
  header: string | undefined;
}

interface LineError {
  code: string;
  message: string;
  details?: { path: string; message: string }[];
}

type AnswerLine =
  | { line: number; result: ImportResult; error?: LineError }
  | { totals: Record<ImportResult | 'lines', number> };

const CONTENT_TYPES: Record<ImportFormat, string> = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

const MAX_ATTEMPTS = 4;
const RETRY_MS = 1_000;

const toReason = ({ message, details = [] }: LineError): string =>
  details.length === 0 ? message : details.map(({ path, message: text }) => `${path} ${text}`).join('; ');

const readAnswer = async (response: Response): Promise<AnswerLine[]> => {
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(error);
  });
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): AnswerLine => JSON.parse(line));
  if (!lines.some((line) => 'totals' in line)) throw unreachable('The answer was cut off.');
  return lines;
};

/** Sends a part, and sends it again if the answer is lost. The service then ends in the same state. */
const sendPart = async (
  { format, onConflict, isDryRun, hasEvents }: ImportRequest,
  { body }: FilePart,
  signal: AbortSignal,
): Promise<AnswerLine[]> => {
  const query = new URLSearchParams({
    on_conflict: onConflict,
    dry_run: String(isDryRun),
    events: String(hasEvents),
  });
  const send = () =>
    checked(
      fetch(`/api/v1/licenses/import?${query.toString()}`, {
        method: 'POST',
        headers: { 'content-type': CONTENT_TYPES[format] },
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
      await new Promise((resolve) => setTimeout(resolve, error.retryAfterMs ?? RETRY_MS * attempt));
    }
  }
};

/** The fields of a line of JSON. Machines, which need their licenses, are only in such files. */
const fieldsOf = (text: string): Fields => {
  try {
    return (JSON.parse(text) as Fields | null) ?? {};
  } catch {
    return {};
  }
};

/** Imports a file part by part, because a later line can need an earlier one. */
export const importFile = async (
  request: ImportRequest,
  onProgress: (progress: number) => void,
  signal: AbortSignal,
): Promise<ImportSummary> => {
  const counts: ImportCounts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };
  const failed: FailedLine[] = [];
  let header: string | undefined;
  const isPromised = openDryRun();
  onProgress(0);
  for await (const part of partsOf(request.file, request.format)) {
    header ??= part.header;
    for (const answer of await sendPart(request, part, signal)) {
      if ('totals' in answer) {
        for (const result of RESULTS) counts[result] += answer.totals[result];
        continue;
      }
      const line = part.lines.get(answer.line) ?? { number: answer.line, text: '' };
      if (request.isDryRun && request.format === 'ndjson' && isPromised(fieldsOf(line.text), answer)) {
        counts.failed--;
        counts.created++;
      } else if (answer.error) failed.push({ ...line, reason: toReason(answer.error) });
    }
    onProgress(part.progress);
  }
  return { counts, failed, header };
};
