import { readFile, rm, stat } from 'node:fs/promises';
import type { ImportTotals } from '../../../shared/rules/import/run.ts';
import { CliError } from '../failure.ts';
import { writeWhole } from '../whole-file.ts';

export type Totals = ImportTotals;

/** How far an import has come. The file beside the input lets the next run continue after a cut. */
interface Position {
  /** The input, where it goes, and the options. Another import begins anew. */
  import: string;
  records: number;
  totals: Totals;
  /** How long the file of failed rows is. Earlier versions don't say. */
  failedBytes?: number;
}

const EMPTY: Totals = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };

/** Where an import goes. A file may be imported into several accounts, such as those of two services. */
interface Target {
  service: string;
  account: string;
}

export const openPosition = async (file: string, target: Target, options: object) => {
  const found = await stat(file).catch((cause: unknown) => {
    throw new CliError(`${file} can’t be read: ${(cause as Error).message}`, { cause });
  });
  // Of a pipe, only the first reading would get anything.
  if (!found.isFile())
    throw new CliError(`${file} is no regular file.`, {
      advice: 'Save the licenses to a file first, which is read several times.',
    });
  const { size, mtimeMs } = found;
  const name = JSON.stringify({ size, mtimeMs, ...target, ...options });
  const path = `${file}.importing`;

  const read = async (): Promise<Position> => {
    try {
      const stored = JSON.parse(await readFile(path, 'utf8')) as Position;
      if (stored.import === name) return stored;
    } catch {
      // There is no file, or a file that was cut off.
    }
    return { import: name, records: 0, totals: EMPTY, failedBytes: 0 };
  };

  return {
    size,
    start: await read(),
    save: (reached: Omit<Required<Position>, 'import'>) =>
      writeWhole(path, (append) => append(JSON.stringify({ import: name, ...reached }))),
    remove: () => rm(path, { force: true }),
  };
};
