import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '../core/types.ts';

const FILE = 'license.json';
const ATTEMPTS = 5;
const RETRY_MS = 20;
/** An update takes milliseconds. A process that has held the lock for longer has died. */
const LOCK_MS = 2_000;

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? '';
const isMissing = (error: unknown) => codeOf(error) === 'ENOENT';

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

const removeLock = (lock: string) => rm(lock, { force: true }).catch(() => {});

/** Creates the lock, or returns false if that can't be done: a store without a lock is better than no store. */
const takeLock = async (lock: string): Promise<boolean> => {
  const sinceMs = performance.now();
  for (;;) {
    try {
      await writeFile(lock, '', { mode: 0o600, flag: 'wx' });
      return true;
    } catch (error) {
      // On Windows, a file that is being deleted is EPERM.
      if (!['EEXIST', 'EPERM'].includes(codeOf(error)) || performance.now() - sinceMs > 2 * LOCK_MS)
        return false;
    }
    const takenMs = await stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity,
    );
    if (Date.now() - takenMs > LOCK_MS) await removeLock(lock);
    await wait(RETRY_MS * Math.random());
  }
};

/**
 * Returns a store in a file that only the user can read. A write replaces the file as a whole, so that no process ever
 * reads half of it. Updates take turns by a file beside it.
 */
export const fileStore = (dir: string): Store => {
  const path = join(dir, FILE);
  const lockPath = `${path}.lock`;
  const makeDir = () => mkdir(dir, { recursive: true, mode: 0o700 });
  return {
    get: () =>
      retry(() => readFile(path, 'utf8')).catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      }),
    set: async (text) => {
      if (text === null) return rm(path, { force: true });
      await makeDir();
      const temporary = `${path}.${randomBytes(6).toString('hex')}`;
      try {
        await writeFile(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
        return await retry(() => rename(temporary, path));
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
    lock: async (update) => {
      const isTaken = await makeDir().then(
        () => takeLock(lockPath),
        () => false,
      );
      try {
        return await update();
      } finally {
        if (isTaken) await removeLock(lockPath);
      }
    },
  };
};
