import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '../core/types.ts';

const FILE = 'license.json';
const ATTEMPTS = 5;
const RETRY_MS = 20;

/** On Windows, a file can't be replaced while another process reads it. */
const replace = async (from: string, to: string): Promise<void> => {
  for (let count = 1; count < ATTEMPTS; count += 1) {
    try {
      return await rename(from, to);
    } catch {
      await wait(RETRY_MS * count);
    }
  }
  return rename(from, to);
};

/**
 * Returns a store in a file that only the user can read. A write replaces the file as a whole, so that no process ever
 * reads half of it.
 */
export const fileStore = (dir: string): Store => {
  const path = join(dir, FILE);
  return {
    get: () => readFile(path, 'utf8').catch(() => null),
    set: async (text) => {
      if (text === null) return rm(path, { force: true });
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const temporary = `${path}.${randomBytes(6).toString('hex')}`;
      try {
        await writeFile(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
        return await replace(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
  };
};
