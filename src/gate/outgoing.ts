import type { WebhookEvent } from '../shared/events.ts';

/** A stored value is limited to 2 MB, and an event has a few hundred characters. */
const ROW_EVENTS = 200;
const BATCH_LENGTH = 256 * 1_024;
/** Rows forwarded at once. Each row holds the events of one commit, or a part of them. */
const BATCH_ROWS = 50;

/** Events waiting to be forwarded to the outbox: one row per commit, deleted once the outbox has stored it. */
export const openOutgoing = (sql: SqlStorage) => {
  let unwritten: WebhookEvent[] = [];
  let waiting = sql.exec('SELECT 1 FROM outgoing LIMIT 1').toArray().length > 0;

  /** Inserts events as part of the current transaction. */
  const insert = (events: WebhookEvent[]) => {
    for (let from = 0; from < events.length; from += ROW_EVENTS) {
      const row = events.slice(from, from + ROW_EVENTS);
      sql.exec('INSERT INTO outgoing (events) VALUES (?)', JSON.stringify(row));
      waiting = true;
    }
  };

  return {
    insert,

    /** Queues an event for the commit of the call that created it. */
    add: (event: WebhookEvent) => {
      unwritten.push(event);
    },

    write: () => {
      insert(unwritten);
      unwritten = [];
    },

    isEmpty: () => !waiting,

    /** Returns the next events as one JSON array, which the outbox accepts as it is. */
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
