import type { WebhookEvent } from '../../shared/text/events.ts';

/** A stored value is limited to 2 MB, and an event has a few hundred characters. */
const ROW_EVENTS = 200;
const BATCH_LENGTH = 256 * 1_024;
/** Rows forwarded at once. Each row holds the events of one commit, or a part of them. */
const BATCH_ROWS = 50;

/** Events waiting to be forwarded to the outbox: one row per commit, deleted once the outbox has stored it. */
export const openOutgoing = (sql: SqlStorage) => {
  let unwritten: WebhookEvent[] = [];
  /** The newest row, or 0 if there is none. */
  let { lastSeq } = sql
    .exec<{ lastSeq: number }>('SELECT coalesce(max(seq), 0) AS lastSeq FROM outgoing')
    .one();

  /** Inserts events as part of the current transaction. */
  const insert = (events: WebhookEvent[]) => {
    for (let from = 0; from < events.length; from += ROW_EVENTS) {
      const row = events.slice(from, from + ROW_EVENTS);
      lastSeq++;
      sql.exec('INSERT INTO outgoing (seq, events) VALUES (?, ?)', lastSeq, JSON.stringify(row));
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

    isEmpty: () => lastSeq === 0,
    lastSeq: () => lastSeq,

    /** Returns the next events as one JSON array, which the outbox accepts as it is. */
    next: (): { events: string; throughSeq: number } | null => {
      const rows = sql
        .exec<{ seq: number; events: string }>(
          'SELECT seq, events FROM outgoing ORDER BY seq LIMIT ?',
          BATCH_ROWS,
        )
        .toArray();
      const [first, ...others] = rows;
      if (!first) return null;
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
      if (throughSeq === lastSeq) lastSeq = 0;
    },
  };
};

export type Outgoing = ReturnType<typeof openOutgoing>;
