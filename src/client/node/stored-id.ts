import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirSync } from './make-dir.ts';

const FILE = 'machine-id';

const read = (path: string): string | null => {
  try {
    return /^[\w-]{22}$/.exec(readFileSync(path, 'utf8').trim())?.[0] ?? null;
  } catch {
    return null;
  }
};

/** Returns the id that is kept in the directory, if there is one. */
export const knownId = (dir: string): string | null => read(join(dir, FILE));

/**
 * Returns a random id that is kept in the directory, for a machine without an id of its own. Of two processes that make one at
 * the same time, the first one's counts. Where nothing can be written, it lasts as long as the process.
 */
export const storedId = (dir: string): string => {
  const path = join(dir, FILE);
  const known = read(path);
  if (known) return known;
  const made = randomBytes(16).toString('base64url');
  const temporary = `${path}.${made}`;
  try {
    makeDirSync(dir);
    writeFileSync(temporary, made, { mode: 0o600, flag: 'wx', flush: true });
    try {
      linkSync(temporary, path);
    } catch {
      // Another process was first, or the file is broken.
      if (!read(path)) renameSync(temporary, path);
    }
    rmSync(temporary, { force: true });
  } catch {
    // Nothing can be written.
  }
  return read(path) ?? made;
};
