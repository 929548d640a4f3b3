import { setTimeout as wait } from 'node:timers/promises';

/** On other systems, these mean that the user may not do it. */
const OF_WINDOWS = process.platform === 'win32' ? ['EPERM', 'EACCES'] : [];
const BUSY = new Set(['EBUSY', 'EMFILE', 'ENFILE', ...OF_WINDOWS]);
const ATTEMPTS = 5;
const RETRY_MS = 20;

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

const mayRetry = (error: unknown, count: number) => BUSY.has(codeOf(error)) && count < ATTEMPTS;

/**
 * Repeats what fails for a moment. On Windows, a file can't be replaced while another process reads it, nor read at that
 * moment, and one that is being deleted can't be created.
 */
export const retry = async <T>(run: () => Promise<T>): Promise<T> => {
  for (let count = 1; ; count += 1) {
    try {
      return await run();
    } catch (error) {
      if (!mayRetry(error, count)) throw error;
      await wait(RETRY_MS * count);
    }
  }
};

/** The same without a promise, for `createLicense`, which returns at once. */
export const retrySync = <T>(run: () => T): T => {
  for (let count = 1; ; count += 1) {
    try {
      return run();
    } catch (error) {
      if (!mayRetry(error, count)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS * count);
    }
  }
};
