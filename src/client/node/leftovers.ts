import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Nothing that is still written to is as old as this. */
const LEFT_MS = 86_400_000;

/**
 * Removes the temporary files that processes which died have left beside a file. That file was written just now, and tells the
 * time, because the clock of a file server may be another one.
 */
export const clearLeftovers = async (
  written: string,
  isTemporary: (name: string) => boolean,
): Promise<void> => {
  const dir = dirname(written);
  try {
    const { mtimeMs } = await stat(written);
    for (const name of (await readdir(dir)).filter(isTemporary)) {
      const path = join(dir, name);
      if (mtimeMs - (await stat(path)).mtimeMs > LEFT_MS) await rm(path, { force: true });
    }
  } catch {
    // They are no hindrance, and another process may have been first.
  }
};
