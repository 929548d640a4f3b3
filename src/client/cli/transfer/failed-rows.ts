import { appendFile, rm, stat, truncate } from 'node:fs/promises';
import type { openFailedFile } from '../../../shared/rules/import/failed-file.ts';
import type { RowResult } from '../../../shared/rules/import/run.ts';

/** The rows that failed, in a file of their own. The position says how much of it belongs to the rows before. */
export const failedRows = (path: string, { header, toRow }: ReturnType<typeof openFailedFile>) => {
  const length = () =>
    stat(path).then(
      ({ size }) => size,
      () => 0,
    );
  return {
    length,

    /** Takes away what was written after the position was saved: those rows are imported again. */
    cut: async (bytes: number) => {
      if (bytes === 0) await rm(path, { force: true });
      else if ((await length()) > bytes) await truncate(path, bytes);
    },

    /** Appends rows, and returns how long the file is. */
    add: async (failed: RowResult[]): Promise<number> => {
      const rows = failed.map((result) => toRow(result) ?? '').join('');
      const before = await length();
      // The position must not be on the disk before the rows.
      if (rows !== '') await appendFile(path, (before === 0 ? header : '') + rows, { flush: true });
      return length();
    },
  };
};
