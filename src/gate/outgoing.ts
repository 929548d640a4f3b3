import type { WebhookEvent } from '../shared/events.ts';

/** Rows handed over at once; each holds the events of one commit. */
const BATCH_ROWS = 50;

/** The gate's events on their way to the outbox: a row for each commit, gone once the outbox has it. */
export const openOutgoing = (sql: SqlStorage) => {
  sql.exec('CREATE TABLE IF NOT EXISTS outgoing (seq INTEGER PRIMARY KEY, events TEXT NOT NULL)');
  let unwritten: WebhookEvent[] = [];
  let waiting = sql.exec('SELECT 1 FROM outgoing LIMIT 1').toArray().length > 0;

  /** Into the open transaction. */
  const insert = (events: WebhookEvent[]) => {
    if (events.length === 0) return;
    sql.exec('INSERT INTO outgoing (events) VALUES (?)', JSON.stringify(events));
    waiting = true;
  };

  return {
    insert,

    /** Kept for the commit of the call that made it. */
    add: (event: WebhookEvent) => {
      unwritten.push(event);
    },

    write: () => {
      insert(unwritten);
      unwritten = [];
    },

    isEmpty: () => !waiting,

    /** As one JSON list, which is how the outbox takes them. */
    next: (): { events: string; throughSeq: number } | null => {
      const rows = sql
        .exec<{ seq: number; events: string }>(
          'SELECT seq, events FROM outgoing ORDER BY seq LIMIT ?',
          BATCH_ROWS,
        )
        .toArray();
      const last = rows.at(-1);
      if (!last) {
        waiting = false;
        return null;
      }
      return {
        events: `[${rows.map(({ events }) => events.slice(1, -1)).join(',')}]`,
        throughSeq: last.seq,
      };
    },

    remove: (throughSeq: number) => {
      sql.exec('DELETE FROM outgoing WHERE seq <= ?', throughSeq);
    },
  };
};

export type Outgoing = ReturnType<typeof openOutgoing>;
