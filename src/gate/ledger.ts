import { isoDate } from '../shared/rules/dates.ts';

// The gate's counters: an account's calls by period and by day, and when each key was last used. Counters live in
// memory and are written by the commit that the counted call waits for.

export type CountedCall = 'verify' | 'create';

interface Counter {
  value: number;
  /** When the value last changed. */
  atMs: number;
  writtenAtMs: number;
}

export interface DayUsage {
  date: string;
  verify: number;
  create: number;
}

const periodCounter = (startMs: number) => `period:${startMs}`;
const dayCounter = (nowMs: number, call: CountedCall) => `day:${isoDate(nowMs)}:${call}`;
const keyCounter = (keyId: string) => `key:${keyId}`;
const FIRST_VALID_VERIFY = 'first:valid_verify';

const KEY_USE_INTERVAL_MS = 1_000;

/** Above this many, written counters are dropped from memory. */
const MAX_IN_MEMORY = 5_000;

export const openLedger = (sql: SqlStorage) => {
  const inMemory = new Map<string, Counter>();
  const unwritten = new Map<string, Counter>();

  const read = (name: string): Counter => {
    let counter = inMemory.get(name);
    if (!counter) {
      const [row] = sql.exec<{ value: number; at_ms: number }>(
        'SELECT value, at_ms FROM counters WHERE name = ?',
        name,
      );
      counter = { value: row?.value ?? 0, atMs: row?.at_ms ?? 0, writtenAtMs: row?.at_ms ?? 0 };
      inMemory.set(name, counter);
    }
    return counter;
  };

  const add = (name: string, amount: number, nowMs: number) => {
    const counter = read(name);
    counter.value += amount;
    counter.atMs = nowMs;
    unwritten.set(name, counter);
  };

  return {
    periodUsage: (startMs: number) => read(periodCounter(startMs)).value,

    count: (call: CountedCall, periodStartMs: number, nowMs: number) => {
      add(periodCounter(periodStartMs), 1, nowMs);
      add(dayCounter(nowMs, call), 1, nowMs);
    },

    /** Uncounts a call that was counted at `countedAtMs`. */
    refund: (call: CountedCall, periodStartMs: number, countedAtMs: number) => {
      add(periodCounter(periodStartMs), -1, countedAtMs);
      add(dayCounter(countedAtMs, call), -1, countedAtMs);
    },

    /** Carries the usage of one period over to another, for an upgrade in the middle of a period. */
    carry: (fromStartMs: number, toStartMs: number, nowMs: number) => {
      const used = read(periodCounter(fromStartMs)).value;
      if (fromStartMs !== toStartMs && read(periodCounter(toStartMs)).value === 0) {
        add(periodCounter(toStartMs), used, nowMs);
      }
    },

    /** Written at most once a second per key: a row per call would cost more than the counts themselves. */
    useKey: (keyId: string, nowMs: number) => {
      const counter = read(keyCounter(keyId));
      counter.value = 1;
      counter.atMs = nowMs;
      if (Math.abs(nowMs - counter.writtenAtMs) >= KEY_USE_INTERVAL_MS)
        unwritten.set(keyCounter(keyId), counter);
    },

    noteValidVerify: (nowMs: number) => {
      if (read(FIRST_VALID_VERIFY).value === 0) add(FIRST_VALID_VERIFY, 1, nowMs);
    },

    firstValidVerifyMs: () => {
      const { value, atMs } = read(FIRST_VALID_VERIFY);
      return value > 0 ? atMs : null;
    },

    /** Writes the changed counters, as part of the current commit. */
    write: () => {
      for (const [name, counter] of unwritten) {
        const { value, atMs } = counter;
        sql.exec(
          'INSERT INTO counters (name, value, at_ms) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, at_ms = excluded.at_ms',
          name,
          value,
          atMs,
        );
        counter.writtenAtMs = atMs;
      }
      unwritten.clear();
      if (inMemory.size > MAX_IN_MEMORY) inMemory.clear();
    },

    days: (fromDate: string): DayUsage[] => {
      const days = new Map<string, DayUsage>();
      // ';' follows ':' in ASCII, so the range ends with the last day.
      for (const { name, value } of sql.exec<{ name: string; value: number }>(
        "SELECT name, value FROM counters WHERE name >= ? AND name < 'day;'",
        `day:${fromDate}`,
      )) {
        const [, date = '', call] = name.split(':');
        const day = days.get(date) ?? { date, verify: 0, create: 0 };
        days.set(date, { ...day, [call as CountedCall]: value });
      }
      return [...days.values()];
    },

    keyLastUsedMs: (keyId: string): number | null => {
      const { value, atMs } = read(keyCounter(keyId));
      return value > 0 ? atMs : null;
    },
  };
};

export type Ledger = ReturnType<typeof openLedger>;
