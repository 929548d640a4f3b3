import { readFile } from 'node:fs/promises';
import type { PinnedKeys } from '../core/types.ts';
import { CliError } from './failure.ts';
import { typed } from './invocation.ts';

/** Reads a file that `npm run latchkey -- keys pull` wrote. In a module, the keys are a JSON object, too. */
export const readPinnedKeys = async (file: string): Promise<PinnedKeys> => {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CliError(`${file} can’t be read: ${(cause as Error).message}`, { cause });
  });
  try {
    const pinned = JSON.parse(
      text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1),
    ) as Partial<PinnedKeys>;
    if (typeof pinned.account === 'string' && Array.isArray(pinned.keys)) return pinned as PinnedKeys;
  } catch {
    // The error below says what to do.
  }
  throw new CliError(`${file} has no pinned keys.`, { advice: `Run ${typed('keys pull --out FILE')}.` });
};
