import type { WebhookEvent } from '../shared/events.ts';

/** A text in storage has at most 2 MB, and so has a parameter. An event has less than a few hundred characters. */
const ROW_EVENTS = 200;
const BATCH_LENGTH = 256 * 1_024;
/** Rows handed over at once; each holds the events of one commit, or a part of them. */
const BATCH_ROWS = 50;

/** The gate's events on their way to the outbox: a row for each commit, gone once the outbox has it. */
export const openOutgoing = (sql: SqlStorage) => {
  sql.exec('CREATE TABLE IF NOT EXISTS outgoing (seq INTEGER PRIMARY KEY, events TEXT NOT NULL)');
  let unwritten: WebhookEvent[] = [];
  let waiting = sql.exec('SELECT 1 FROM outgoing LIMIT 1').toArray().length > 0;

  /** Into the open transaction. */
  const insert = (events: WebhookEvent[]) => {
    for (let from = 0; from < events.length; from += ROW_EVENTS) {
      const row = events.slice(from, from + ROW_EVENTS);
      sql.exec('INSERT INTO outgoing (events) VALUES (?)', JSON.stringify(row));
      waiting = true;
    }
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
      const [first, ...others] = rows;
      if (!first) {
        waiting = false;
        return null;
      }
      const taken = [first];
      let length = first.events.length;
      for (const row of others) {
        length += row.events.length;
        if (length > BATCH_LENGTH) break;
        taken.push(row);
      }
      return {
        events: `[${taken.map(({ events }) => events.slice(1, -1)).join(',')}]`,
        throughSeq: taken.at(-1)?.seq ?? first.seq,
      };
    },

    remove: (throughSeq: number) => {
      sql.exec('DELETE FROM outgoing WHERE seq <= ?', throughSeq);
    },
  };
};

export type Outgoing = ReturnType<typeof openOutgoing>;
