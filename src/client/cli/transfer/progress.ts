import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { ImportTotals } from '../../../shared/rules/import/run.ts';
import { CliError } from '../failure.ts';

export type Totals = ImportTotals;

/** How far an import has come. The file beside the input lets the next run continue after a cut. */
interface Position {
  /** The input, where it goes, and the options. Another import begins anew. */
  import: string;
  records: number;
  totals: Totals;
}

const EMPTY: Totals = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };

/** Where an import goes. A file may be imported into several accounts, such as those of two services. */
interface Target {
  service: string;
  account: string;
}

export const openPosition = async (file: string, target: Target, options: object) => {
  const { size, mtimeMs } = await stat(file).catch((cause: unknown) => {
    throw new CliError(`${file} can’t be read: ${(cause as Error).message}`, { cause });
  });
  const name = JSON.stringify({ size, mtimeMs, ...target, ...options });
  const path = `${file}.importing`;

  const read = async (): Promise<Position> => {
    try {
      const stored = JSON.parse(await readFile(path, 'utf8')) as Position;
      if (stored.import === name) return stored;
    } catch {
      // There is no file, or a file that was cut off.
    }
    return { import: name, records: 0, totals: EMPTY };
  };

  return {
    size,
    start: await read(),
    save: async (records: number, totals: Totals) => {
      await writeFile(`${path}.new`, JSON.stringify({ import: name, records, totals }));
      await rename(`${path}.new`, path);
    },
    remove: () => rm(path, { force: true }),
  };
};
