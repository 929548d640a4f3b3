import { DAY_MS, isoDate } from '../shared/rules/dates.ts';
import { openCountedCalls } from './counted-calls.ts';

// The gate's counters: an account's calls by period and by day, and when each key was last used. They live in memory
// and are written by the commit that the counted call waits for. Counters that changed lately share one row, so that
// a commit writes one row. They move to rows of their own once a day, or when the row gets too long.

export type CountedCall = 'verify' | 'create';

interface Counter {
  value: number;
  /** When the value last changed. */
  atMs: number;
}

export interface DayUsage {
  date: string;
  verify: number;
  create: number;
}

export interface ProductUsage {
  code: string;
  calls: number;
}

const DAY = 'day:';
const periodCounter = (startMs: number) => `period:${startMs}`;
const dayCounter = (nowMs: number, call: CountedCall) => `${DAY}${isoDate(nowMs)}:${call}`;
const keyCounter = (keyId: string) => `key:${keyId}`;
const PRODUCT = 'product:';
const productCounter = (startMs: number, code: string) => `${PRODUCT}${startMs}:${code}`;
const thresholdCounter = (startMs: number) => `threshold:${startMs}`;
const FIRST_VALID_VERIFY = 'first:valid_verify';

const KEY_USE_INTERVAL_MS = 1_000;

/** The most counters in the shared row. Every commit writes all of them, so they must fit into a page of the disk. */
const MAX_RECENT = 32;

/** Above this many, counters that are not in the shared row are dropped from memory. */
const MAX_IN_MEMORY = 5_000;

const isSameDay = (ms: number, otherMs: number) => Math.floor(ms / DAY_MS) === Math.floor(otherMs / DAY_MS);

const readRecent = (sql: SqlStorage) => {
  const [row] = sql.exec<{ counters: string; calls: string }>('SELECT counters, calls FROM recent_counters');
  const counters = row ? (JSON.parse(row.counters) as Record<string, Counter>) : {};
  return { counters: Object.entries(counters), calls: row?.calls ?? '' };
};

export const openLedger = (sql: SqlStorage) => {
  /** The counters in the shared row, and those that the next write adds to it. */
  const { counters, calls } = readRecent(sql);
  const recent = new Map(counters);
  const counted = openCountedCalls(calls);
  let inMemory = new Map(recent);
  let isChanged = false;
  let isNewDay = false;
  /** Usage by product is deleted for periods that started earlier. */
  let keepsProductsFromMs: number | null = null;

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

  const set = (name: string, counter: Counter, value: number, nowMs: number) => {
    counter.value = value;
    counter.atMs = nowMs;
    recent.set(name, counter);
    isChanged = true;
  };

  const add = (name: string, amount: number, nowMs: number) => {
    const counter = read(name);
    set(name, counter, counter.value + amount, nowMs);
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
    isNewDay = false;
    if (keepsProductsFromMs !== null) {
      const from = productCounter(keepsProductsFromMs, '');
      sql.exec('DELETE FROM counters WHERE name >= ? AND name < ?', PRODUCT, from);
      keepsProductsFromMs = null;
    }
    if (inMemory.size > MAX_IN_MEMORY) inMemory = new Map();
  };

  /** Returns the counters whose names begin with `prefix` and come from `from` on, in the order of their names. */
  const readRange = (prefix: string, from = prefix): [name: string, value: number][] => {
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
  };

  const productUsage = (startMs: number): ProductUsage[] => {
    const prefix = productCounter(startMs, '');
    return readRange(prefix).map(([name, calls]) => ({ code: name.slice(prefix.length), calls }));
  };

  /** Writes the changed counters, as part of the current commit. */
  const write = () => {
    if (!isChanged) return;
    isChanged = false;
    if (isNewDay || recent.size > MAX_RECENT) moveRecent();
    sql.exec(
      `INSERT INTO recent_counters (only, counters, calls) VALUES (1, ?, ?)
       ON CONFLICT DO UPDATE SET counters = excluded.counters, calls = excluded.calls`,
      JSON.stringify(Object.fromEntries(recent)),
      counted.takeText(),
    );
  };

  return {
    write,
    hasCounted: counted.has,

    periodUsage: (startMs: number) => read(periodCounter(startMs)).value,

    productUsage,

    /** Counts a call. If it has an id, a repeat can be recognized. */
    count: (call: CountedCall, periodStartMs: number, nowMs: number, callId?: string) => {
      if (callId) counted.add(callId);
      const { value, atMs } = read(periodCounter(periodStartMs));
      isNewDay ||= !isSameDay(atMs, nowMs);
      if (value === 0) keepsProductsFromMs = periodStartMs;
      add(periodCounter(periodStartMs), 1, nowMs);
      add(dayCounter(nowMs, call), 1, nowMs);
    },

    countProduct: (code: string, periodStartMs: number, nowMs: number) =>
      add(productCounter(periodStartMs, code), 1, nowMs),

    /** Uncounts a call that was counted at `countedAtMs`. */
    refund: (call: CountedCall, periodStartMs: number, countedAtMs: number) => {
      add(periodCounter(periodStartMs), -1, countedAtMs);
      add(dayCounter(countedAtMs, call), -1, countedAtMs);
    },

    /** Adds calls that a branch has counted, as part of the current transaction. */
    addBranchCalls: (periodStartMs: number, calls: number, nowMs: number) => {
      add(periodCounter(periodStartMs), calls, nowMs);
      write();
    },

    /**
     * Carries the usage of one period over to another, for an upgrade in the middle of a period. `exposure` are the calls that
     * branches may have counted.
     */
    carry: (fromStartMs: number, toStartMs: number, nowMs: number, exposure = 0) => {
      const used = read(periodCounter(fromStartMs)).value + exposure;
      if (fromStartMs !== toStartMs && read(periodCounter(toStartMs)).value === 0) {
        add(periodCounter(toStartMs), used, nowMs);
        for (const { code, calls } of productUsage(fromStartMs))
          add(productCounter(toStartMs, code), calls, nowMs);
      }
    },

    /** Noted at most once a second per key, because many keys don't fit into the shared row. */
    useKey: (keyId: string, nowMs: number) => {
      const counter = read(keyCounter(keyId));
      if (Math.abs(nowMs - counter.atMs) >= KEY_USE_INTERVAL_MS) set(keyCounter(keyId), counter, 1, nowMs);
    },

    keyLastUsedMs: (keyId: string): number | null => {
      const { value, atMs } = read(keyCounter(keyId));
      return value > 0 ? atMs : null;
    },

    /** Forgets all counters, but no calls, as part of the current transaction. */
    clear: () => {
      recent.clear();
      inMemory = new Map();
      sql.exec('DELETE FROM counters');
      isChanged = true;
      write();
    },

    /** Deletes the counters of deleted keys, as part of the current transaction. */
    forgetKeys: (keyIds: string[]) => {
      for (const name of keyIds.map(keyCounter)) {
        inMemory.delete(name);
        if (recent.delete(name)) isChanged = true;
        sql.exec('DELETE FROM counters WHERE name = ?', name);
      }
      write();
    },

    noteValidVerify: (nowMs: number) => {
      if (read(FIRST_VALID_VERIFY).value === 0) add(FIRST_VALID_VERIFY, 1, nowMs);
    },

    /** Notes a percentage of the usage limit. Returns false if it or a higher one was noted in this period already. */
    noteThreshold: (periodStartMs: number, percent: number, nowMs: number): boolean => {
      const name = thresholdCounter(periodStartMs);
      const counter = read(name);
      if (counter.value >= percent) return false;
      set(name, counter, percent, nowMs);
      return true;
    },

    firstValidVerifyMs: () => {
      const { value, atMs } = read(FIRST_VALID_VERIFY);
      return value > 0 ? atMs : null;
    },

    days: (fromDate: string): DayUsage[] => {
      const days = new Map<string, DayUsage>();
      for (const [name, value] of readRange(DAY, DAY + fromDate)) {
        const [, date = '', call] = name.split(':');
        const day = days.get(date) ?? { date, verify: 0, create: 0 };
        days.set(date, { ...day, [call as CountedCall]: value });
      }
      return [...days.values()];
    },
  };
};

export type Ledger = ReturnType<typeof openLedger>;
