import { TEST_EVENT } from '../shared/rules/events.ts';
import type { WebhookEvent } from '../shared/text/events.ts';

// Clients that listen poll for events with a cursor. Event ids can't be the cursor, because an event can arrive after a
// newer one. So while a client listens, the outbox numbers the blocks of events as they arrive.

/** A client that doesn't poll for this long, less at most a minute, has to start again. */
export const LISTEN_MS = 5 * 60_000;
/** The time is stored with at most one poll a minute. */
const RENEW_MS = 60_000;
const MAX_ARRIVALS = 10_000;
/** Each event wakes all waiting polls, which read it in turn. A poll beyond them is answered at once. */
const MAX_WAITING = 50;
/** A page has at most 100 events. */
const BLOCKS_PER_PAGE = 2;

const STATE = 'listening';

interface State {
  untilMs: number;
  /** Every block with a greater number is in the table, unless retention has deleted its events. */
  after: number;
}

export interface Arrivals {
  events: WebhookEvent[];
  cursor: number;
}

export const openListening = ({ sql, kv }: DurableObjectStorage) => {
  let state = kv.get<State>(STATE) ?? { untilMs: 0, after: 0 };
  const wakers = new Set<() => void>();

  const save = (fields: Partial<State>) => {
    state = { ...state, ...fields };
    kv.put(STATE, state);
  };

  const isActive = (nowMs: number) => nowMs < state.untilMs;

  const lastNumber = (): number =>
    sql.exec<{ last: number | null }>('SELECT max(number) AS last FROM arrivals').one().last ?? state.after;

  const forget = (upTo: number) => {
    if (upTo <= state.after) return;
    sql.exec('DELETE FROM arrivals WHERE number <= ?', upTo);
    save({ after: upTo });
  };

  const read = (after: number): Arrivals => {
    const rows = sql
      .exec<{ number: number; events: string }>(
        `SELECT number, events FROM arrivals JOIN event_blocks ON last_id = block_id
         WHERE number > ? ORDER BY number LIMIT ?`,
        after,
        BLOCKS_PER_PAGE,
      )
      .toArray();
    const events = rows.flatMap((row) => JSON.parse(row.events) as WebhookEvent[]);
    return {
      events: events.filter(({ name }) => name !== TEST_EVENT),
      cursor: rows.length === BLOCKS_PER_PAGE ? (rows.at(-1)?.number ?? after) : lastNumber(),
    };
  };

  return {
    isActive,
    endsAtMs: (nowMs: number) => (isActive(nowMs) ? state.untilMs : Infinity),

    /** Numbers a new block of events if a client listens, and wakes the clients. */
    record: (blockId: string, nowMs: number) => {
      if (!isActive(nowMs)) return;
      sql.exec('INSERT INTO arrivals (number, block_id) VALUES (?, ?)', lastNumber() + 1, blockId);
      for (const wake of wakers) wake();
    },

    /**
     * Starts or prolongs listening. Returns the number of the block after which to read, or null if blocks after the
     * cursor may be missing.
     */
    renew: (cursor: number | null, nowMs: number): number | null => {
      const last = lastNumber();
      const isKnown = isActive(nowMs) && cursor !== null && cursor >= state.after && cursor <= last;
      if (cursor !== null && !isKnown) return null;
      if (state.untilMs < nowMs + LISTEN_MS - RENEW_MS) save({ untilMs: nowMs + LISTEN_MS });
      forget(last - MAX_ARRIVALS);
      return cursor ?? last;
    },

    /** Returns the blocks after the given number, and waits for the next block if there are none. */
    readOrWait: async (after: number, waitMs: number): Promise<Arrivals> => {
      const arrivals = read(after);
      if (waitMs === 0 || arrivals.events.length > 0 || wakers.size >= MAX_WAITING) return arrivals;
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          wakers.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, waitMs);
        wakers.add(wake);
      });
      return read(arrivals.cursor);
    },

    /** Deletes the numbers once no client listens anymore. */
    endIfIdle: (nowMs: number) => {
      if (!isActive(nowMs)) forget(lastNumber());
    },
  };
};

export type Listening = ReturnType<typeof openListening>;
