import type { Alarm } from './alarm.ts';
import { coalesce } from './coalesce.ts';

/** A part of a Durable Object that keeps in memory what it has not written yet. */
export interface Writer {
  /** Writes it, as part of the journal's transaction. */
  write?: () => void;
  /** Runs after the transaction. */
  written?: () => void;
}

/**
 * Writes what the parts of an object also have in memory. The platform holds all answers and messages back
 * until what was written before them is on disk. If a transaction fails, memory is ahead of the disk, so the object restarts.
 */
export const openJournal = (ctx: DurableObjectState, alarm: Alarm) => {
  const { storage } = ctx;
  const writers: Writer[] = [];

  /** Writes rows, all or nothing. What the parts have in memory waits for the call's `commit`, which others share. */
  const write = <T>(fn: () => T): T => {
    try {
      return storage.transactionSync(fn);
    } catch (error) {
      ctx.abort(`The object could not write: ${String(error)}`);
      throw error;
    }
  };

  const writeAll = <T>(fn: () => T): T => {
    const result = write(() => {
      const changed = fn();
      for (const writer of writers) writer.write?.();
      return changed;
    });
    for (const { written } of writers) written?.();
    return result;
  };

  return {
    add: (writer: Writer) => {
      writers.push(writer);
    },

    /**
     * Writes what the parts have in memory, in one transaction. The first caller's is written at once. Those who call while it
     * is on its way to the disk share the next one.
     */
    commit: coalesce(
      async () => {
        writeAll(() => {});
        await alarm.arm();
      },
      () => storage.sync(),
    ),

    /** Writes a change together with what the parts have in memory, in one transaction: all or nothing. */
    change: <T>(fn: () => T): T => {
      const result = writeAll(fn);
      ctx.waitUntil(alarm.arm());
      return result;
    },

    write,
  };
};

export type Journal = ReturnType<typeof openJournal>;
