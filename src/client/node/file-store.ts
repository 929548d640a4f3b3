import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '../core/types.ts';

const FILE = 'license.json';
const ATTEMPTS = 5;
const RETRY_MS = 20;

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** On Windows, a file can't be replaced while another process reads it, nor read at that moment. */
const retry = async <T>(run: () => Promise<T>): Promise<T> => {
  for (let count = 1; ; count += 1) {
    try {
      return await run();
    } catch (error) {
      if (isMissing(error) || count === ATTEMPTS) throw error;
      await wait(RETRY_MS * count);
    }
  }
};

/**
 * Returns a store in a file that only the user can read. A write replaces the file as a whole, so that no process ever
 * reads half of it.
 */
export const fileStore = (dir: string): Store => {
  const path = join(dir, FILE);
  return {
    get: () =>
      retry(() => readFile(path, 'utf8')).catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      }),
    set: async (text) => {
      if (text === null) return rm(path, { force: true });
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const temporary = `${path}.${randomBytes(6).toString('hex')}`;
      try {
        await writeFile(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
        return await retry(() => rename(temporary, path));
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
  };
};
