import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Nothing that is still written to is as old as this. */
const LEFT_MS = 86_400_000;

/**
 * Removes the temporary files that processes which died have left in a directory. What was written just now tells the time,
 * because the clock of a file server may be another one.
 */
export const clearLeftovers = async (
  dir: string,
  isTemporary: (name: string) => boolean,
  nowMs: number,
): Promise<void> => {
  try {
    for (const name of (await readdir(dir)).filter(isTemporary)) {
      const path = join(dir, name);
      if (nowMs - (await stat(path)).mtimeMs > LEFT_MS) await rm(path, { force: true });
    }
  } catch {
    // They are no hindrance, and another process may have been first.
  }
};
