import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../core/types.ts';
import { codeOf, retry, retrySync } from './busy-files.ts';
import { takeLock } from './file-lock.ts';
import { clearLeftovers } from './leftovers.ts';
import { makeDir } from './make-dir.ts';

const FILE = 'license.json';

/** What this package gives a temporary name: the store, its lock, and the machine's id. */
const isTemporary = (name: string) =>
  /^(?:license\.json(?:\.lock)?\.[\da-f]{12}|machine-id\.[\w-]{22})$/.test(name);

const pathIn = (dir: string) => join(dir, FILE);

/** Whether something has been stored in the directory, as far as can be seen. */
export const isStoredIn = (dir: string): boolean => existsSync(pathIn(dir));

/** Returns what is stored in the directory, or null if nothing is, or if it can't be read. */
export const readStored = (dir: string): string | null => {
  try {
    return retrySync(() => readFileSync(pathIn(dir), 'utf8'));
  } catch {
    return null;
  }
};

/** A store whose record is another machine's, as far as is known, so it's neither read nor written. */
export const closedStore = (dir: string, code: string): Store => {
  const refuse = async () => {
    throw Object.assign(new Error(code), { code, path: pathIn(dir) });
  };
  return { get: refuse, set: refuse };
};

/**
 * Returns a store in a file that only the user can read. A write replaces the file as a whole, so that no process ever
 * reads half of it. Updates take turns by a lock beside it.
 */
export const fileStore = (dir: string): Store => {
  const path = pathIn(dir);
  let isCleared = false;

  /** An error names the store's file, also where Node.js names no file or a temporary one. */
  const named = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      throw Object.assign(error as Error, { path });
    }
  };

  const write = async (text: string) => {
    await makeDir(dir);
    const temporary = `${path}.${randomBytes(6).toString('hex')}`;
    try {
      await writeFile(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
      await retry(() => rename(temporary, path));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    // Once is enough, because what this process leaves is not a day old.
    if (!isCleared) await clearLeftovers(path, isTemporary);
    isCleared = true;
  };

  return {
    get: () =>
      named(() => retry(() => readFile(path, 'utf8'))).catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return null;
        throw error;
      }),
    set: (text) => named(() => (text === null ? rm(path, { force: true }) : write(text))),
    lock: async (update) => {
      const release = await makeDir(dir).then(
        () => takeLock(`${path}.lock`),
        () => null,
      );
      try {
        return await update();
      } finally {
        await release?.();
      }
    },
  };
};
