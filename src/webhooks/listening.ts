import type { ObjectContext } from '../shared/objects/context.ts';
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
const EVENTS_PER_PAGE = 100;

const STATE = 'listening';
/** The tag of the sockets of clients that want `license.verified`. */
const VERIFIED = 'verified';

interface State {
  untilMs: number;
  /** Every block with a greater number is in the table, unless retention has deleted its events. */
  after: number;
  /** The same for blocks of nothing but `license.verified`, which not every client wants. */
  verifiedUntilMs: number;
  verifiedAfter: number;
}

const isVerified = ({ name }: WebhookEvent) => name === 'license.verified';

export interface Arrivals {
  events: WebhookEvent[];
  cursor: number;
}

export const openListening = ({ ctx, journal }: Pick<ObjectContext, 'ctx' | 'journal'>) => {
  const { sql, kv } = ctx.storage;
  const stored = kv.get<Partial<State>>(STATE);
  // Earlier versions numbered all blocks for every client.
  const { untilMs = 0, after = 0 } = stored ?? {};
  let state: State = { untilMs, after, verifiedUntilMs: untilMs, verifiedAfter: after, ...stored };

  /** Stores fields, as part of the current transaction. */
  const save = (fields: Partial<State>) => {
    state = { ...state, ...fields };
    kv.put(STATE, state);
  };

  const isActive = (nowMs: number) => nowMs < state.untilMs;
  const wantsVerified = (nowMs: number) => nowMs < state.verifiedUntilMs;

  const lastNumber = (): number => {
    const { last } = sql.exec<{ last: number | null }>('SELECT max(number) AS last FROM arrivals').one();
    return Math.max(last ?? 0, state.after, state.verifiedAfter);
  };

  /** Whether no block after the cursor is missing of those that the client wants. */
  const isKnown = (cursor: number, verified: boolean, nowMs: number) =>
    (verified ? wantsVerified(nowMs) && cursor >= state.verifiedAfter : isActive(nowMs)) &&
    cursor >= Math.max(state.after, lastNumber() - MAX_ARRIVALS) &&
    cursor <= lastNumber();

  /** A call whose time is over doesn't wait, even if the end of its connection went unnoticed. */
  const waitingCalls = (by: EventWait['by'], nowMs: number) =>
    ctx
      .getWebSockets(by)
      .map((socket) => ({ socket, endsAtMs: Number(socket.deserializeAttachment()) }))
      .filter(({ endsAtMs }) => endsAtMs > nowMs)
      .toSorted((a, b) => a.endsAtMs - b.endsAtMs);

  /** Before a client begins, blocks may be missing that it wants, so that no earlier cursor is known. */
  const begin = (verified: boolean, nowMs: number) => {
    const first = lastNumber() + 1;
    if (!isActive(nowMs)) save({ after: first });
    if (verified && !wantsVerified(nowMs)) save({ verifiedAfter: first });
  };

  const prolong = (verified: boolean, nowMs: number) => {
    const isDue = (endMs: number) => endMs < nowMs + LISTEN_MS - RENEW_MS;
    const endMs = nowMs + LISTEN_MS;
    if (isDue(state.untilMs) || (verified && isDue(state.verifiedUntilMs)))
      save({ untilMs: endMs, ...(verified && { verifiedUntilMs: endMs }) });
  };

  const forget = (upTo: number) => {
    if (upTo <= state.after) return;
    sql.exec('DELETE FROM arrivals WHERE number <= ?', upTo);
    save({ after: upTo });
  };

  /** Whether a block after the cursor may have events that the client wants. */
  const hasMore = (cursor: number, verified: boolean): boolean =>
    sql
      .exec('SELECT 1 FROM arrivals WHERE number > ? AND (? OR is_for_all) LIMIT 1', cursor, Number(verified))
      .toArray().length > 0;

  /** Most blocks of a busy account have few events, so a page has as many blocks as fit in it, and at least one. */
  const read = (cursor: number, verified: boolean): Arrivals => {
    const rows = sql
      .exec<{ number: number; events: string }>(
        `SELECT number, events FROM (
           SELECT number, block_id, sum(size) OVER (ORDER BY number) AS total FROM (
             SELECT number, block_id, size FROM arrivals JOIN event_blocks ON last_id = block_id
             WHERE number > ?1 AND (?2 OR is_for_all) ORDER BY number LIMIT ?3
           )
         ) JOIN event_blocks ON last_id = block_id WHERE total <= max(?3, size) ORDER BY number`,
        cursor,
        Number(verified),
        EVENTS_PER_PAGE,
      )
      .toArray();
    const events = rows.flatMap((row) => JSON.parse(row.events) as WebhookEvent[]);
    return {
      events: events.filter((event) => event.name !== TEST_EVENT && (verified || !isVerified(event))),
      cursor: rows.at(-1)?.number ?? lastNumber(),
    };
  };

  return {
    wantsVerified,
    /** When a client may have stopped to listen, or to want `license.verified`. */
    endsAtMs: (nowMs: number) =>
      Math.min(...[state.untilMs, state.verifiedUntilMs].filter((endMs) => nowMs < endMs)),

    /** Numbers a new block of events if a client that listens wants it, and ends the waits of those who do. */
    record: (blockId: string, events: WebhookEvent[], nowMs: number) => {
      const isForAll = !events.every(isVerified);
      if (isForAll ? !isActive(nowMs) : !wantsVerified(nowMs)) return;
      sql.exec(
        'INSERT INTO arrivals (number, block_id, is_for_all) VALUES (?, ?, ?)',
        lastNumber() + 1,
        blockId,
        Number(isForAll),
      );
      for (const socket of isForAll ? ctx.getWebSockets() : ctx.getWebSockets(VERIFIED)) socket.close();
    },

    /**
     * Starts or prolongs listening. Returns the number of the block after which to read, or null if blocks after the
     * cursor may be missing.
     */
    renew: (cursor: number | null, verified: boolean, nowMs: number): number | null => {
      if (cursor !== null && !isKnown(cursor, verified, nowMs)) return null;
      return journal.write(() => {
        begin(verified, nowMs);
        prolong(verified, nowMs);
        const last = lastNumber();
        forget(last - MAX_ARRIVALS);
        return cursor ?? last;
      });
    },

    read,

    /** Accepts a WebSocket, which the next block of events closes, unless there is one that the caller hasn't read. */
    wait: ({ after: cursor, waitMs, limit, by, verified }: EventWait, nowMs: number): Response => {
      if (!isKnown(cursor, verified, nowMs) || hasMore(cursor, verified)) return new Response();
      const waiting = waitingCalls(by, nowMs);
      if (waiting.length >= limit) {
        if (by === 'api_key') return new Response(null, { status: REFUSED });
        // A tab that was closed or loaded again may have left its wait. One that is still open asks again after a pause.
        waiting[0]?.socket.close();
      }
      const [webSocket, own] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
      ctx.acceptWebSocket(own, [by, ...(verified ? [VERIFIED] : [])]);
      own.serializeAttachment(nowMs + waitMs);
      return new Response(null, { status: 101, webSocket });
    },

    /** Deletes the numbers once no client listens anymore. */
    endIfIdle: (nowMs: number) => {
      if (!isActive(nowMs)) journal.write(() => forget(lastNumber()));
    },
  };
};

export type Listening = ReturnType<typeof openListening>;
