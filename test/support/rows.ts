import { runInDurableObject } from 'cloudflare:test';
import { gate } from './gate.ts';

type Cursor = Pick<SqlStorageCursor<Record<string, SqlStorageValue>>, 'rowsRead' | 'rowsWritten'>;

/** Counts the rows that the account's gate reads and writes in its storage from now on, until it restarts. */
export const watchRows = async (accountId: string) => {
  let cursors: Cursor[] = [];
  await runInDurableObject(gate(accountId), (_instance, { storage: { sql } }) => {
    const exec = sql.exec.bind(sql);
    Object.assign(sql, {
      exec: (query: string, ...bindings: unknown[]) => {
        const cursor = exec(query, ...bindings);
        cursors.push(cursor);
        return cursor;
      },
    });
  });
  return {
    /** Returns the rows since the last call. */
    take: () =>
      runInDurableObject(gate(accountId), () => {
        const sum = (name: keyof Cursor) => cursors.reduce((n, cursor) => n + cursor[name], 0);
        const rows = { read: sum('rowsRead'), written: sum('rowsWritten') };
        cursors = [];
        return rows;
      }),
  };
};
