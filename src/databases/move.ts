import { accountDatabases, placeOf } from '../db/client.ts';
import { isRejected } from '../db/errors.ts';
import { MAP_LEASE_MS } from '../db/places.ts';
import { readSize } from '../db/room.ts';
import { openBudget } from '../erasure/budget.ts';
import { CLOSED_BYTES } from '../shared/config/places.ts';
import type { ObjectContext } from '../shared/objects/context.ts';
import { logLine } from '../shared/text/log.ts';
import { cleanUp, removeCopiedEntries } from './clean.ts';
import { copyFacts, CopyRefused, copyTable, findDifference, measureBytes, type MoveRoute } from './copy.ts';
import {
  areExpiriesTold,
  beginFeed,
  closeAccount,
  isBackedUp,
  noteGone,
  openAccount,
  switchPlace,
} from './fences.ts';
import type {
  DatabaseMove,
  DatabaseMoveReply,
  DatabaseMoveRequest,
  DatabaseMoveState,
} from './move-state.ts';
import { tablesFrom } from './moved-tables.ts';

// Moves the account's rows to another D1 database, from the alarm. Meanwhile the gate answers calls, D1 is read, and only what
// the seller changes is refused. No write can be lost: the databases themselves refuse it, see src/db/guarded.ts.

/** A run of the alarm may make 1,000 queries, and its other jobs wait for the next one. */
const MAX_QUERIES = 400;
const MAX_MS = 5_000;
/** What a page costs: it is listed, read, and written in some parts. */
const QUERIES_PER_PAGE = 6;
/** Entries of the audit log are read where they are from, and deleted where they were copied to. */
const QUERIES_PER_ENTRIES = 2;
/** Clocks stand still while an isolate works. */
const MARGIN_MS = 5_000;
/** A move that has not advanced for so long is undone. */
const GIVE_UP_MS = 15 * 60_000;

const CAN_BE_UNDONE: DatabaseMove['phase'][] = ['closing', 'draining', 'copying', 'comparing'];

interface Parts {
  state: DatabaseMoveState;
  /** Applies the whole feed. */
  pull: () => Promise<void>;
  /** Lets the copy go on with the feed of the other database. */
  setPosition: (position: NonNullable<DatabaseMove['feed']>) => void;
  /** Whether the home moves to another region, or its account is being erased. */
  isLeaving: () => boolean;
}

export const openDatabaseMove = (
  { env, accountId, alarm, ctx }: ObjectContext,
  { state, pull, setPosition, isLeaving }: Parts,
) => {
  const databaseNamed = (binding: string) => {
    const found = accountDatabases(env).find((database) => database.binding === binding);
    if (!found) throw new Error(`DATABASES lacks ${binding}.`);
    return found;
  };
  const routeOf = ({ from, to }: DatabaseMove): MoveRoute => ({
    accountId,
    from: databaseNamed(from),
    to: databaseNamed(to),
  });
  const isFirst = (binding: string) => accountDatabases(env)[0].binding === binding;

  const undo = (problem: string) => state.advance({ phase: 'undoing', problem, after: null });

  const close = async (route: MoveRoute): Promise<void> => {
    await closeAccount(route);
    state.advance({ closedMs: Date.now() });
    if (await isBackedUp(env)) return undo('A backup of the service is being made or restored.');
    if (!(await areExpiriesTold(route)))
      return undo(
        'The hourly work has not sent all events of today’s expiring licenses. Try again in an hour.',
      );
    state.advance({ phase: 'draining' });
  };

  const drain = async (): Promise<void> => {
    await pull();
    await ctx.storage.sync();
    state.advance({ phase: 'copying' });
  };

  const copy = async (route: MoveRoute, move: DatabaseMove): Promise<void> => {
    const { spend } = openBudget(MAX_QUERIES, MAX_MS);
    const tables = tablesFrom(isFirst(move.from));
    let { after, table: number } = move;
    for (; number < tables.length; number++) {
      const table = tables[number];
      if (!table || !spend(QUERIES_PER_PAGE)) return;
      const isDone = await copyTable(route, table, after, (rows, last) => {
        const now = state.now();
        if (now?.phase !== 'copying') return false;
        state.advance({ table: number, after: last, rows: now.rows + rows });
        return spend(QUERIES_PER_PAGE);
      });
      if (!isDone || state.now()?.phase !== 'copying') return;
      after = null;
      state.advance({ table: number + 1, after });
    }
    await copyFacts(route);
    state.advance({ phase: 'comparing' });
  };

  const compare = async (route: MoveRoute, { from, to }: DatabaseMove): Promise<void> => {
    await measureBytes(route);
    // The first database has entries of the account's own, about signing in.
    const knowsMore = (table: string) => table === 'audit_log' && isFirst(to);
    const differing = await findDifference(route, tablesFrom(isFirst(from)), knowsMore);
    if (state.now()?.phase !== 'comparing') return;
    if (differing) return undo(`${to} has another number of rows in ${differing} than ${from}.`);
    const feed = await beginFeed(route);
    if (state.now()?.phase === 'comparing') state.advance({ phase: 'switching', feed });
  };

  const clean = async ({ from }: MoveRoute): Promise<void> => {
    const { spend } = openBudget(MAX_QUERIES, MAX_MS);
    if (!(await cleanUp(env, from, accountId, spend))) return state.advance({});
    await noteGone(from, accountId);
    state.end();
    const { rows = 0, startedMs = 0, closedMs, openedMs } = state.ended() ?? {};
    const refusedMs = (openedMs ?? 0) - (closedMs ?? 0);
    const figures = { rows, ms: Date.now() - startedMs, refused_ms: refusedMs };
    logLine('info', { event: 'database_moved', account_id: accountId, to: state.ended()?.to, ...figures });
  };

  const stay = async (route: MoveRoute, { problem, openedMs, after }: DatabaseMove): Promise<void> => {
    const { spend } = openBudget(MAX_QUERIES, MAX_MS);
    // First: the other database, which goes on refusing writes, may be what has failed.
    if (openedMs === null) await openAccount(env, route.from, accountId);
    state.advance({ openedMs: openedMs ?? Date.now() });
    const isRemoved = await removeCopiedEntries(env, route, String(after ?? ''), (through) => {
      state.advance({ after: through });
      return spend(QUERIES_PER_ENTRIES);
    });
    if (!isRemoved) return;
    if (!(await cleanUp(env, route.to, accountId, spend))) return state.advance({});
    await noteGone(route.to, accountId);
    state.end();
    const at = { account_id: accountId, database: route.to.binding };
    logLine('error', { event: 'database_move_undone', reason: problem, ...at });
  };

  const step = async (move: DatabaseMove): Promise<void> => {
    const route = routeOf(move);
    switch (move.phase) {
      case 'closing':
        return close(route);
      case 'draining':
        return drain();
      case 'copying':
        return copy(route, move);
      case 'comparing':
        return compare(route, move);
      case 'switching':
        await switchPlace(env, route);
        return state.advance({ phase: 'waiting', dueMs: Date.now() + MAP_LEASE_MS + MARGIN_MS });
      case 'waiting':
        // From here on, the feed is read again, from where it begins in the other database.
        return state.advance({ phase: 'opening' }, () => move.feed && setPosition(move.feed));
      case 'opening':
        await openAccount(env, route.to, accountId);
        return state.advance({ phase: 'cleaning', openedMs: Date.now() });
      case 'cleaning':
        return clean(route);
      default:
        return stay(route, move);
    }
  };

  alarm.add({
    failure: 'database_move_failed',
    dueMs: (nowMs) => {
      const move = state.now();
      return move && (move.phase === 'waiting' ? move.dueMs : nowMs);
    },
    run: async (nowMs) => {
      const move = state.now();
      if (!move || (move.phase === 'waiting' && nowMs < move.dueMs)) return;
      try {
        await step(move);
      } catch (error) {
        const isOver = error instanceof CopyRefused || isRejected(error);
        const problem = error instanceof Error ? error.message : String(error);
        const canBeUndone = CAN_BE_UNDONE.includes(state.now()?.phase ?? 'undoing');
        if (canBeUndone && (isOver || nowMs >= move.advancedMs + GIVE_UP_MS)) return undo(problem);
        throw error;
      }
    },
  });

  const read = async (): Promise<DatabaseMoveReply> => ({
    refused: null,
    database: (await placeOf(env, accountId)).binding,
    move: state.now(),
    ended: state.ended(),
  });

  /** Begins to move the account. A repeat for the same database returns how far that is. */
  const start = async (to: string, isDryRun: boolean): Promise<DatabaseMoveReply> => {
    const target = accountDatabases(env).find(({ binding }) => binding === to);
    if (!target) return { refused: `DATABASES doesn’t name ${to}.` };
    const now = state.now();
    if (now && (now.to !== to || now.phase === 'undoing'))
      return { refused: `The account moves to ${now.to} at the moment, or back from there.` };
    const { binding } = await placeOf(env, accountId);
    if (now || binding === to) return read();
    if (isLeaving()) return { refused: 'The account moves to another region, or is being erased.' };
    if ((await readSize(target)) >= CLOSED_BYTES)
      return { refused: `${to} has no room: it takes 8 GB or more.` };
    if (await isBackedUp(env)) return { refused: 'A backup of the service is being made or restored.' };
    if (isDryRun) return read();
    if (state.now() || isLeaving()) return start(to, isDryRun);
    state.start(binding, to);
    await alarm.arm();
    return read();
  };

  /** Lets the account stay where it is, unless it is too late for that. */
  const cancel = async (): Promise<DatabaseMoveReply> => {
    const now = state.now();
    if (!now) return { refused: 'The account doesn’t move.' };
    if (now.phase !== 'undoing') {
      if (!CAN_BE_UNDONE.includes(now.phase)) return { refused: `The account is in ${now.to} already.` };
      undo('The operator has canceled the move.');
      await alarm.arm();
    }
    return read();
  };

  return {
    ask: (request: DatabaseMoveRequest): Promise<DatabaseMoveReply> => {
      if (request.ask === 'state') return read();
      return request.ask === 'cancel' ? cancel() : start(request.to, request.ask === 'trial');
    },
  };
};
