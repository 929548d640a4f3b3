import type { SQLInputValue } from 'node:sqlite';
import { deserialize, serialize } from 'node:v8';
import { type Disk, isRead } from './disk.ts';

/** The result of a query, read at once. */
const openCursor = (columns: string[], rows: SqlStorageValue[][]) => {
  const objects = rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
  return {
    columnNames: columns,
    toArray: () => objects,
    raw: () => rows[Symbol.iterator](),
    one: () => {
      const [row, ...others] = objects;
      if (!row || others.length > 0) throw new Error(`Expected one row, and found ${objects.length}.`);
      return row;
    },
    [Symbol.iterator]: () => objects[Symbol.iterator](),
  };
};

/**
 * Gives an object its disk as the platform does. A process that is over finds nothing there. `onStrayWrite` is told of each
 * write that is not part of a transaction.
 */
export const openStorage = (disk: Disk, isOver: () => boolean, onStrayWrite: (query: string) => void) => {
  let transactions = 0;

  const execute = (query: string, ...bindings: SQLInputValue[]) => {
    if (isOver()) throw new Error('This process is over.');
    if (transactions === 0 && !isRead(query)) onStrayWrite(query);
    return disk.execute(query, bindings);
  };

  const kv = {
    get: (key: string) => {
      const [row] = execute('SELECT value FROM _cf_KV WHERE key = ?', key).rows;
      return row ? (deserialize(row[0] as unknown as Uint8Array) as unknown) : undefined;
    },
    put: (key: string, value: unknown) => {
      execute('INSERT OR REPLACE INTO _cf_KV (key, value) VALUES (?, ?)', key, serialize(value));
    },
    delete: (key: string) => execute('DELETE FROM _cf_KV WHERE key = ? RETURNING 1', key).rows.length > 0,
    list: () =>
      execute('SELECT key, value FROM _cf_KV ORDER BY key').rows.map(([key, value]) => [
        key,
        deserialize(value as unknown as Uint8Array) as unknown,
      ]),
  };

  return {
    kv,
    sql: {
      exec: (query: string, ...bindings: SQLInputValue[]) => {
        const { columns, rows } = execute(query, ...bindings);
        return openCursor(columns, rows);
      },
    },
    transactionSync: <T>(work: () => T): T => {
      if (isOver()) throw new Error('This process is over.');
      transactions++;
      try {
        return disk.transaction(work);
      } finally {
        transactions--;
      }
    },
    sync: (): Promise<void> => (isOver() ? new Promise(() => {}) : disk.isWritten()),
    getAlarm: async () => disk.alarmMs(),
    setAlarm: async (atMs: number) => {
      if (!isOver()) disk.setAlarm(atMs);
    },
    deleteAlarm: async () => {
      if (!isOver()) disk.setAlarm(null);
    },
  };
};
