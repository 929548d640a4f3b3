import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, retry } from './busy-files.ts';

/** An update takes milliseconds. A process that holds the lock for longer has died, or sleeps. */
const HELD_MS = 2_000;
/** Without a lock, an update still compares before it writes. */
const WAIT_MS = 4_000;
const POLL_MS = 20;

const read = (path: string) => readFile(path, 'utf8').catch(() => null);

/** Takes away the lock of a process that has died. Another process may have done so, and have taken the lock. */
const takeAway = async (path: string, holder: string) => {
  if ((await read(path)) !== holder) return;
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    // Of several processes, one moves the file. If it was replaced just now, the new one goes back.
    await rename(path, aside);
    if ((await read(aside)) === holder) await rm(aside, { force: true });
    else await rename(aside, path);
  } catch {
    // Another process was first.
  }
};

/**
 * Creates the lock, and returns how to remove it. Returns null if that can't be done: a store without a lock is better than
 * no store. No clock is compared, because that of a file server may be another one.
 */
export const takeLock = async (path: string): Promise<(() => Promise<void>) | null> => {
  const own = randomBytes(12).toString('hex');
  const sinceMs = performance.now();
  let other: string | null = null;
  let seenMs = sinceMs;
  for (;;) {
    try {
      await retry(() => writeFile(path, own, { mode: 0o600, flag: 'wx' }));
      return async () => {
        if ((await read(path)) === own) await rm(path, { force: true }).catch(() => {});
      };
    } catch (error) {
      const nowMs = performance.now();
      if (codeOf(error) !== 'EEXIST' || nowMs - sinceMs > WAIT_MS) return null;
      const holder = await read(path);
      if (holder !== other) [other, seenMs] = [holder, nowMs];
      else if (holder !== null && nowMs - seenMs > HELD_MS) await takeAway(path, holder);
    }
    await wait(POLL_MS * Math.random());
  }
};
