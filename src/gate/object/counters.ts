import { createLru } from '../../shared/memory/lru.ts';
import { PLANS } from '../../shared/rules/plans.ts';
import { RATE_WINDOW_MS } from '../../shared/rules/rate.ts';
import { openTraffic, type Traffic } from '../rules/traffic.ts';
import type { Counter } from '../rules/usage.ts';
import type { KeptEvents } from './outgoing.ts';

// Named counters. They live in memory and are written by the commit that the counted call waits for. Counters that changed
// lately share one row, so that a commit writes one row. They move to rows of their own once a day, or when the row gets
// too long.

/** The most counters in the shared row. Every commit writes all of them, so they must fit into a page of the disk. */
const MAX_RECENT = 32;

/** Above this many, counters that are not in the shared row are dropped from memory. */
const MAX_IN_MEMORY = 5_000;

/** The platform repeats a call that it has lost for at most this long. */
const REPEATS_MS = 10_000;

const callsPerSecond = Math.max(...Object.values(PLANS).map((plan) => plan.accountCallsPerSecond));
/** The most calls that an account makes while one of them may be repeated, with a burst at the beginning. */
const REPEATABLE_CALLS = (callsPerSecond * (REPEATS_MS + RATE_WINDOW_MS)) / 1_000;

/** Remembers ids of calls for as long as they may be repeated. */
export const openCallIds = () => {
  const ids = createLru<true>(REPEATABLE_CALLS);
  return {
    has: (id: string) => ids.get(id) === true,
    add: (id: string) => ids.set(id, true),
  };
};

/**
 * The ids of counted calls, so that a repeat isn't counted again. All recent ids are in memory. The ids of the last two
 * commits are also on disk, because a restart cuts off calls of a commit whose replies are still on their way.
 */
const openCountedCalls = (stored: string) => {
  const known = openCallIds();
  let last = stored === '' ? [] : stored.split(' ');
  let current: string[] = [];
  for (const id of last) known.add(id);

  return {
    has: known.has,

    add: (id: string) => {
      known.add(id);
      current.push(id);
    },

    /** Ends a commit and returns what it has to store. */
    takeText: (): string => {
      const text = [...last, ...current].join(' ');
      if (current.length > 0) last = current;
      current = [];
      return text;
    },
  };
};

const readRecent = (sql: SqlStorage) => {
  const [row] = sql.exec<{ counters: string; calls: string; traffic: string }>(
    'SELECT counters, calls, traffic FROM recent_counters',
  );
  const counters = row ? (JSON.parse(row.counters) as Record<string, Counter>) : {};
  return { counters: Object.entries(counters), calls: row?.calls ?? '', traffic: row?.traffic ?? '' };
};

/** `events` are kept in the shared row, too. `savePast` stores the traffic of past days, which is then dropped here. */
export const openCounters = (
  sql: SqlStorage,
  events: KeptEvents,
  savePast: ((days: Traffic) => void) | null = null,
) => {
  /** The counters in the shared row, and those that the next write adds to it. */
  const { counters, calls, traffic: storedTraffic } = readRecent(sql);
  const recent = new Map(counters);
  const counted = openCountedCalls(calls);
  const traffic = openTraffic(storedTraffic);
  let inMemory = new Map(recent);
  let isChanged = false;

  const read = (name: string): Counter => {
    let counter = inMemory.get(name);
    if (!counter) {
      const [row] = sql.exec<{ value: number; at_ms: number }>(
        'SELECT value, at_ms FROM counters WHERE name = ?',
        name,
      );
      counter = { value: row?.value ?? 0, atMs: row?.at_ms ?? 0 };
      inMemory.set(name, counter);
    }
    return counter;
  };

  const set = (name: string, value: number, nowMs: number) => {
    const counter = read(name);
    counter.value = value;
    counter.atMs = nowMs;
    recent.set(name, counter);
    isChanged = true;
  };

  /** Moves the recent counters to rows of their own. */
  const moveRecent = () => {
    for (const [name, { value, atMs }] of recent) {
      sql.exec(
        'INSERT INTO counters (name, value, at_ms) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, at_ms = excluded.at_ms',
        name,
        value,
        atMs,
      );
    }
    recent.clear();
    if (inMemory.size > MAX_IN_MEMORY) inMemory = new Map();
  };

  return {
    /** The ids of counted calls. */
    counted,
    traffic,
    read,
    set,

    add: (name: string, amount: number, nowMs: number) => set(name, read(name).value + amount, nowMs),

    /** Returns the counters whose names begin with `prefix` and come from `from` on, in the order of their names. */
    readRange: (prefix: string, from = prefix): [name: string, value: number][] => {
      const rows = sql.exec<{ name: string; value: number }>(
        'SELECT name, value FROM counters WHERE name >= ? AND name < ?',
        from,
        // ';' follows ':' in ASCII, so the range ends with the prefix.
        `${prefix.slice(0, -1)};`,
      );
      const values = new Map([...rows].map(({ name, value }) => [name, value]));
      for (const [name, { value }] of recent)
        if (name.startsWith(prefix) && name >= from) values.set(name, value);
      return [...values].toSorted(([a], [b]) => (a < b ? -1 : 1));
    },

    /** Returns the counters that have changed since a time. Those in rows of their own are read only if `all` is set. */
    changedSince: (sinceMs: number, all: boolean): Record<string, Counter> => {
      const rows = all
        ? sql.exec<{ name: string; value: number; at_ms: number }>('SELECT name, value, at_ms FROM counters')
        : [];
      const stored = [...rows].map(({ name, value, at_ms: atMs }) => [name, { value, atMs }] as const);
      const changed = [...stored, ...(all ? recent : inMemory)].filter(([, { atMs }]) => atMs >= sinceMs);
      return Object.fromEntries(changed.map(([name, counter]) => [name, { ...counter }]));
    },

    /** Writes the changed counters, as part of the current commit. */
    write: (isNewDay: boolean): { hasMoved: boolean } => {
      if (!isChanged && !events.hasNew()) return { hasMoved: false };
      isChanged = false;
      const hasMoved = isNewDay || recent.size > MAX_RECENT;
      if (hasMoved) moveRecent();
      const past = savePast && traffic.takePast();
      if (past) savePast?.(past);
      sql.exec(
        `INSERT INTO recent_counters (only, counters, calls, traffic, events) VALUES (1, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET counters = excluded.counters, calls = excluded.calls, traffic = excluded.traffic,
           events = excluded.events`,
        JSON.stringify(Object.fromEntries(recent)),
        counted.takeText(),
        traffic.text(),
        events.takeText(),
      );
      return { hasMoved };
    },

    /** Deletes counters, as part of the current transaction. */
    remove: (names: string[]) => {
      for (const name of names) {
        inMemory.delete(name);
        if (recent.delete(name)) isChanged = true;
        sql.exec('DELETE FROM counters WHERE name = ?', name);
      }
    },

    /** Deletes all counters, but no ids of calls. */
    clear: () => {
      recent.clear();
      inMemory = new Map();
      traffic.clear();
      isChanged = true;
      sql.exec('DELETE FROM counters');
    },
  };
};
