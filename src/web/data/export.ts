import { readExport } from '../../shared/rules/export-stream.ts';
import { checked } from './client.ts';
import { ApiError } from './error.ts';
import { fetchProved } from './proof.ts';

const RETRY_MS = 1_000;

/** Waits after an error that may pass, such as a broken connection. */
const wait = async (error: unknown, attempt: number) => {
  const isApiError = error instanceof ApiError;
  if (isApiError ? !error.isTransient : !(error instanceof TypeError)) throw error;
  const waitMs = (isApiError ? error.retryAfterMs : null) ?? RETRY_MS * attempt;
  await new Promise((resolve) => setTimeout(resolve, waitMs));
};

/** Returns the account's export. The browser keeps a large one on the disk. */
export const readAccountExport = async (onProgress: (lines: number) => void): Promise<Blob> => {
  const open = async (cursor: string | null) => {
    const response = await checked(fetchProved(`/api/export${cursor ? `?cursor=${cursor}` : ''}`));
    return response.body ?? new Blob([]).stream();
  };
  let file = new Blob([]);
  let count = 0;
  for await (const { lines } of readExport(open, wait)) {
    file = new Blob([file, ...lines.flatMap((line) => [line, '\n'])]);
    onProgress((count += lines.length));
  }
  return file;
};
