import { randomBytes } from 'node:crypto';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { retry } from '../node/busy-files.ts';
import { clearLeftovers } from '../node/leftovers.ts';
import { CliError } from './failure.ts';

export type Append = (data: string | Uint8Array) => Promise<void>;

/** A pipe or a device is written to as it is. Nothing could take its place. */
const isReplaced = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isFile(),
    () => true,
  );

/** Files that anyone may read. */
export const PUBLIC = 0o666;

/** A name that no other process uses for the same file, and the names that others may have left. */
const partOf = (file: string) => {
  const start = `${basename(file)}.`;
  return {
    part: `${file}.${randomBytes(6).toString('hex')}.part`,
    isPart: (name: string) => name.startsWith(start) && /^[\da-f]{12}\.part$/.test(name.slice(start.length)),
  };
};

/**
 * Writes a file that gets its name once it is complete and on the disk: whatever happens before, an earlier file of that name
 * stays. `write` throws if what it has appended is not all. Returns what `write` returns.
 */
export const writeWhole = async <R>(
  name: string,
  write: (append: Append) => Promise<R>,
  mode = 0o600,
): Promise<R> => {
  const trying = <T>(work: Promise<T>): Promise<T> =>
    work.catch((cause: unknown) => {
      throw new CliError(`${name} can’t be written: ${(cause as Error).message}`, { cause });
    });
  const isWhole = await isReplaced(name);
  // A link goes on leading to the file.
  const file = await realpath(name).catch(() => name);
  const { part, isPart } = partOf(file);
  const handle = await trying(isWhole ? open(part, 'wx', mode) : open(name, 'w'));
  try {
    let result: R;
    try {
      if (isWhole) await clearLeftovers(part, isPart);
      result = await write((data) => trying(handle.writeFile(data)));
      if (isWhole) await trying(handle.sync());
    } finally {
      await trying(handle.close());
    }
    if (isWhole) await trying(retry(() => rename(part, file)));
    return result;
  } catch (error) {
    if (isWhole) await rm(part, { force: true });
    throw error;
  }
};

/** Says that what was to be written has not all arrived. */
export const cutOff = (what: string, cause?: unknown): CliError =>
  new CliError(`The ${what} was cut off.`, { code: 'cut_off', advice: 'Run the command again.', cause });
