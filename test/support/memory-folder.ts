// Vitest global setup: keeps the files of the tests in memory. On a disk, half of their time is spent waiting for commits.
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const NEEDED_BYTES = 2 * 1024 ** 3;

/** Containers may have little memory, or refuse to run programs there, and the tests unpack Chromium. */
const isUsable = (): boolean => {
  if (!existsSync('/proc/mounts')) return false;
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const options = mounts.find((line) => line.split(' ')[1] === MEMORY)?.split(' ')[3] ?? 'noexec';
  if (/\b(?:noexec|ro)\b/.test(options)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return Math.min(bavail * bsize, process.availableMemory() / 2) > NEEDED_BYTES;
};

/** Lets temporary folders be in memory until this process ends, also those of processes that it starts later. */
export const useMemory = (): void => {
  if (process.env['TMPDIR']?.startsWith(MEMORY) || !isUsable()) return;
  const folder = mkdtempSync(join(MEMORY, 'latchkey-tests-'));
  process.env['TMPDIR'] = folder;
  process.on('exit', () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // After an interruption, a process may still write there. That says nothing about the tests.
    }
  });
};

export default useMemory;
