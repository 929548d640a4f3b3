import type { FeedPosition } from '../gate/rules/rows.ts';
import type { Journal } from '../shared/objects/journal.ts';
import { ownValue } from '../shared/objects/own-values.ts';

// How far the account's move to another D1 database has come. The account's home stores it, so that each step is repeated after a crash.

/** In their order. Until `switching`, the account can stay where it is, by way of `undoing`. */
type MovePhase =
  | 'closing'
  | 'draining'
  | 'copying'
  | 'comparing'
  | 'switching'
  | 'waiting'
  | 'opening'
  | 'cleaning'
  | 'undoing';

export interface DatabaseMove {
  phase: MovePhase;
  from: string;
  to: string;
  /** The number of the table that is being copied, and after which of its rows. While it is undone, the last entry that is gone. */
  table: number;
  after: number | string | null;
  rows: number;
  startedMs: number;
  /** When writes were first refused, and when no more. */
  closedMs: number | null;
  openedMs: number | null;
  /** When the last step was completed. */
  advancedMs: number;
  /** Not before then: every isolate has read the map by then. */
  dueMs: number;
  /** Where the feed goes on in the other database. */
  feed: FeedPosition | null;
  /** Why the account stays, or why the last try of a step has failed. */
  problem: string | null;
}

/** The last move, of which nothing is left to do. */
export interface EndedMove extends Pick<
  DatabaseMove,
  'from' | 'to' | 'rows' | 'startedMs' | 'closedMs' | 'openedMs' | 'problem'
> {
  endedMs: number;
}

/** A trial only looks whether the move can begin. */
export type DatabaseMoveRequest =
  | { ask: 'state' }
  | { ask: 'cancel' }
  | { ask: 'start' | 'trial'; to: string };

export type DatabaseMoveReply =
  | { refused: null; database: string; move: DatabaseMove | null; ended: EndedMove | null }
  | { refused: string };

const MOVE = ownValue('database_move');
const ENDED = ownValue('database_move_ended');

/** From the end of the feed in one database to its beginning in the other one, nothing can be in it. */
const WITHOUT_FEED: MovePhase[] = ['copying', 'comparing', 'switching', 'waiting'];

export const openMoveState = (kv: SyncKvStorage, journal: Pick<Journal, 'change'>) => {
  let now = kv.get<DatabaseMove>(MOVE) ?? null;

  const put = (next: DatabaseMove) => {
    kv.put(MOVE, next);
    now = next;
  };

  return {
    now: () => now,
    ended: () => kv.get<EndedMove>(ENDED) ?? null,
    /** Whether the account's rows can't be written. */
    isClosed: () => now !== null && now.openedMs === null,
    hasNoFeed: () => now !== null && WITHOUT_FEED.includes(now.phase),

    start: (from: string, to: string) => {
      const startedMs = Date.now();
      const times = { startedMs, closedMs: null, openedMs: null, advancedMs: startedMs, dueMs: startedMs };
      const begun = { phase: 'closing', from, to, table: 0, after: null, rows: 0, feed: null } as const;
      journal.change(() => put({ ...begun, ...times, problem: null }));
    },

    /** Stores the next state, together with `change`. A step that was under way when the move was undone leads nowhere. */
    advance: (fields: Partial<DatabaseMove>, change = () => {}) => {
      const before = now;
      if (!before || (before.phase === 'undoing' && fields.phase !== undefined)) return;
      journal.change(() => {
        put({ ...before, advancedMs: Date.now(), ...fields });
        change();
      });
    },

    end: () => {
      const before = now;
      if (!before) return;
      journal.change(() => {
        const { from, to, rows, startedMs, closedMs, openedMs, problem } = before;
        const ended = { from, to, rows, startedMs, closedMs, openedMs, problem, endedMs: Date.now() };
        kv.put(ENDED, ended satisfies EndedMove);
        kv.delete(MOVE);
        now = null;
      });
    },
  };
};

export type DatabaseMoveState = ReturnType<typeof openMoveState>;
