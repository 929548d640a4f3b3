import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../core/types.ts';

const FILE = 'license.json';

/** Returns a store in a file that only the user can read. */
export const fileStore = (dir: string): Store => {
  const path = join(dir, FILE);
  return {
    get: () => readFile(path, 'utf8').catch(() => null),
    set: async (text) => {
      if (text === null) return rm(path, { force: true });
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const temporary = `${path}.${randomBytes(6).toString('hex')}`;
      await writeFile(temporary, text, { mode: 0o600 });
      return rename(temporary, path);
    },
  };
};
