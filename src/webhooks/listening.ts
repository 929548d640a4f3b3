import { TEST_EVENT } from '../shared/rules/events.ts';
import type { WebhookEvent } from '../shared/text/events.ts';
import { REFUSED, type EventWait } from './wait.ts';

// Clients that listen poll for events with a cursor. Event ids can't be the cursor, because an event can arrive after a
// newer one. So while a client listens, the outbox numbers the blocks of events as they arrive.

/** A client that doesn't poll for this long, less at most a minute, has to start again. */
export const LISTEN_MS = 5 * 60_000;
/** The time is stored with at most one poll a minute. */
const RENEW_MS = 60_000;
const MAX_ARRIVALS = 10_000;
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

export const openListening = (ctx: DurableObjectState) => {
  const { sql, kv } = ctx.storage;
  let state = kv.get<State>(STATE) ?? { untilMs: 0, after: 0 };

  const save = (fields: Partial<State>) => {
    state = { ...state, ...fields };
    kv.put(STATE, state);
  };

  const isActive = (nowMs: number) => nowMs < state.untilMs;

  const lastNumber = (): number =>
    sql.exec<{ last: number | null }>('SELECT max(number) AS last FROM arrivals').one().last ?? state.after;

  /** Whether no block after the cursor is missing. */
  const isKnown = (cursor: number, nowMs: number) =>
    isActive(nowMs) && cursor >= state.after && cursor <= lastNumber();

  /** A call whose time is over doesn't wait, even if the end of its connection went unnoticed. */
  const countWaiting = (nowMs: number) =>
    ctx.getWebSockets().filter((socket) => Number(socket.deserializeAttachment()) > nowMs).length;

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

    /** Numbers a new block of events if a client listens, and ends the waits. */
    record: (blockId: string, nowMs: number) => {
      if (!isActive(nowMs)) return;
      sql.exec('INSERT INTO arrivals (number, block_id) VALUES (?, ?)', lastNumber() + 1, blockId);
      for (const socket of ctx.getWebSockets()) socket.close();
    },

    /**
     * Starts or prolongs listening. Returns the number of the block after which to read, or null if blocks after the
     * cursor may be missing.
     */
    renew: (cursor: number | null, nowMs: number): number | null => {
      if (cursor !== null && !isKnown(cursor, nowMs)) return null;
      const last = lastNumber();
      if (state.untilMs < nowMs + LISTEN_MS - RENEW_MS) save({ untilMs: nowMs + LISTEN_MS });
      forget(last - MAX_ARRIVALS);
      return cursor ?? last;
    },

    read,

    /** Accepts a WebSocket, which the next block of events closes, unless there is one that the caller hasn't read. */
    wait: ({ after, waitMs, limit }: EventWait, nowMs: number): Response => {
      if (!isKnown(after, nowMs) || after < lastNumber()) return new Response();
      if (countWaiting(nowMs) >= limit) return new Response(null, { status: REFUSED });
      const [webSocket, own] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
      ctx.acceptWebSocket(own);
      own.serializeAttachment(nowMs + waitMs);
      return new Response(null, { status: 101, webSocket });
    },

    /** Deletes the numbers once no client listens anymore. */
    endIfIdle: (nowMs: number) => {
      if (!isActive(nowMs)) forget(lastNumber());
    },
  };
};

export type Listening = ReturnType<typeof openListening>;
