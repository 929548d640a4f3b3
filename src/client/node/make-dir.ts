import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from './busy-files.ts';

// Node's own `recursive` never ends in a folder that exists and takes no folders, as /proc or one that is mounted on demand.

const OF_USER = { mode: 0o700 };

const lacksParent = (dir: string, error: unknown) => codeOf(error) === 'ENOENT' && dirname(dir) !== dir;

/** Makes the directory and those above it, unless it exists. */
export const makeDir = async (dir: string, isRetry = false): Promise<void> => {
  try {
    await mkdir(dir, OF_USER);
  } catch (error) {
    if (!isRetry && lacksParent(dir, error)) {
      await makeDir(dirname(dir));
      return makeDir(dir, true);
    }
    if (!(await stat(dir).catch(() => null))?.isDirectory()) throw error;
  }
};

/** The same, for what has to be there before a program can go on. */
export const makeDirSync = (dir: string, isRetry = false): void => {
  try {
    mkdirSync(dir, OF_USER);
  } catch (error) {
    if (!isRetry && lacksParent(dir, error)) {
      makeDirSync(dirname(dir));
      return makeDirSync(dir, true);
    }
    if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
};
