import { DAY_MS, isoDate, isSameDay } from '../../shared/rules/dates.ts';
import type { Traffic } from '../rules/traffic.ts';
import {
  type BranchCounters,
  type CountedCall,
  type Counter,
  type DayUsage,
  type ProductUsage,
  USAGE_DAYS,
} from '../rules/usage.ts';
import { openCounters } from './counters.ts';
import type { KeptEvents } from './outgoing.ts';

// The gate's counters: an account's calls by period and by day, and when each key was last used.

const DAY = 'day:';
const periodCounter = (startMs: number) => `period:${startMs}`;
const dayCounter = (nowMs: number, call: CountedCall) => `${DAY}${isoDate(nowMs)}:${call}`;
const KEY = 'key:';
const keyCounter = (keyId: string) => KEY + keyId;
const PRODUCT = 'product:';
const productCounter = (startMs: number, code: string) => `${PRODUCT}${startMs}:${code}`;
const thresholdCounter = (startMs: number) => `threshold:${startMs}`;
const FIRST_VALID_VERIFY = 'first:valid_verify';

const KEY_USE_INTERVAL_MS = 60_000;

export const openLedger = (
  sql: SqlStorage,
  events: KeptEvents,
  savePast: ((days: Traffic) => void) | null = null,
) => {
  const counters = openCounters(sql, events, savePast);
  const { read, add, readRange } = counters;
  let isNewDay = false;
  /** Usage by product is deleted for periods that started earlier. */
  let keepsProductsFromMs: number | null = null;

  const productUsage = (startMs: number, others: BranchCounters = []): ProductUsage[] => {
    const prefix = productCounter(startMs, '');
    const usage = new Map<string, number>();
    for (const [name, calls] of [...readRange(prefix), ...others]) {
      if (!name.startsWith(prefix)) continue;
      const code = name.slice(prefix.length);
      usage.set(code, (usage.get(code) ?? 0) + calls);
    }
    return [...usage].map(([code, calls]) => ({ code, calls }));
  };

  /** Writes the changed counters, as part of the current commit. */
  const write = () => {
    if (!counters.write(isNewDay).hasMoved) return;
    isNewDay = false;
    if (keepsProductsFromMs === null) return;
    const from = productCounter(keepsProductsFromMs, '');
    sql.exec('DELETE FROM counters WHERE name >= ? AND name < ?', PRODUCT, from);
    keepsProductsFromMs = null;
  };

  return {
    write,
    hasCounted: counters.counted.has,
    /** Calls by region. */
    traffic: counters.traffic,

    periodUsage: (startMs: number) => read(periodCounter(startMs)).value,

    productUsage,

    /** Counts a call. If it has an id, a repeat can be recognized. */
    count: (call: CountedCall, periodStartMs: number, nowMs: number, callId?: string) => {
      if (callId) counters.counted.add(callId);
      const { value, atMs } = read(periodCounter(periodStartMs));
      isNewDay ||= !isSameDay(atMs, nowMs);
      if (value === 0) keepsProductsFromMs = periodStartMs;
      add(periodCounter(periodStartMs), 1, nowMs);
      add(dayCounter(nowMs, call), 1, nowMs);
    },

    countProduct: (code: string, periodStartMs: number, nowMs: number) =>
      add(productCounter(periodStartMs, code), 1, nowMs),

    /** Returns the counters that have changed since a time, or all, for a branch's report. */
    changedSince: counters.changedSince,

    /**
     * Merges counters that a branch has reported with those of before, and notes which keys were used. Counters of a branch
     * only grow, so the larger one is the later one. Returns those that statistics still show, to be added to home's.
     */
    hearBranch: (
      known: Record<string, number>,
      reported: Record<string, Counter>,
      {
        isKey,
        periodStartMs,
        nowMs,
      }: { isKey: (id: string) => boolean; periodStartMs: number; nowMs: number },
    ): Record<string, number> => {
      const merged = { ...known };
      for (const [name, { value, atMs }] of Object.entries(reported)) {
        const { value: knownValue, atMs: knownMs } = read(name);
        const isUse = name.startsWith(KEY) && atMs > knownMs && isKey(name.slice(KEY.length));
        const isFirst = name === FIRST_VALID_VERIFY && (knownValue === 0 || atMs < knownMs);
        if (isUse || isFirst) counters.set(name, 1, atMs);
        merged[name] = Math.max(merged[name] ?? 0, value);
      }
      const fromDate = isoDate(nowMs - (USAGE_DAYS - 1) * DAY_MS);
      const isShown = (name: string) => {
        const [kind, since = ''] = name.split(':');
        if (`${kind}:` === DAY) return since >= fromDate;
        return `${kind}:` === PRODUCT && Number(since) >= periodStartMs;
      };
      return Object.fromEntries(Object.entries(merged).filter(([name]) => isShown(name)));
    },

    /** Adds what a closed branch has counted, as part of the current transaction. */
    takeOver: (spent: [periodStartMs: number, calls: number][], others: BranchCounters, nowMs: number) => {
      for (const [startMs, calls] of spent) if (calls > 0) add(periodCounter(startMs), calls, nowMs);
      for (const [name, value] of others) add(name, value, nowMs);
    },

    /**
     * Carries the usage of one period over to another, for an upgrade in the middle of a period. `exposure` are the calls that
     * branches may have counted, `others` what they have reported. Returns false if the later period has begun already.
     */
    carry: (
      fromStartMs: number,
      toStartMs: number,
      nowMs: number,
      { exposure = 0, others = [] }: { exposure?: number; others?: BranchCounters } = {},
    ): boolean => {
      const used = read(periodCounter(fromStartMs)).value + exposure;
      if (fromStartMs === toStartMs || read(periodCounter(toStartMs)).value !== 0) return false;
      add(periodCounter(toStartMs), used, nowMs);
      for (const { code, calls } of productUsage(fromStartMs, others))
        add(productCounter(toStartMs, code), calls, nowMs);
      return true;
    },

    /** Noted at most once a minute per key: many keys don't fit into the shared row, and a call that counts nothing writes it. */
    useKey: (keyId: string, nowMs: number) => {
      const name = keyCounter(keyId);
      if (Math.abs(nowMs - read(name).atMs) >= KEY_USE_INTERVAL_MS) counters.set(name, 1, nowMs);
    },

    keyLastUsedMs: (keyId: string): number | null => {
      const { value, atMs } = read(keyCounter(keyId));
      return value > 0 ? atMs : null;
    },

    /** Forgets all counters, but no calls, as part of the current transaction. */
    clear: () => {
      counters.clear();
    },

    /** Deletes the counters of deleted keys, as part of the current transaction. */
    forgetKeys: (keyIds: string[]) => {
      counters.remove(keyIds.map(keyCounter));
    },

    noteValidVerify: (nowMs: number) => {
      if (read(FIRST_VALID_VERIFY).value === 0) add(FIRST_VALID_VERIFY, 1, nowMs);
    },

    /** Notes a percentage of the usage limit. Returns false if it or a higher one was noted in this period already. */
    noteThreshold: (periodStartMs: number, percent: number, nowMs: number): boolean => {
      const name = thresholdCounter(periodStartMs);
      if (read(name).value >= percent) return false;
      counters.set(name, percent, nowMs);
      return true;
    },

    firstValidVerifyMs: () => {
      const { value, atMs } = read(FIRST_VALID_VERIFY);
      return value > 0 ? atMs : null;
    },

    days: (fromDate: string, others: BranchCounters = []): DayUsage[] => {
      const days = new Map<string, DayUsage>();
      for (const [name, value] of [...readRange(DAY, DAY + fromDate), ...others]) {
        const [, date = '', call] = name.split(':');
        if (!name.startsWith(DAY) || date < fromDate) continue;
        const day = days.get(date) ?? { date, verify: 0, create: 0 };
        days.set(date, { ...day, [call as CountedCall]: day[call as CountedCall] + value });
      }
      return [...days.values()].toSorted((a, b) => (a.date < b.date ? -1 : 1));
    },
  };
};

export type Ledger = ReturnType<typeof openLedger>;
