import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Ledger, openLedger } from '../../src/gate/object/ledger.ts';
import { openOutgoing } from '../../src/gate/object/outgoing.ts';
import type { CountedCall } from '../../src/gate/rules/usage.ts';
import { DAY_MS, isoDate } from '../../src/shared/rules/dates.ts';
import { PLANS } from '../../src/shared/rules/plans.ts';
import { RATE_WINDOW_MS } from '../../src/shared/rules/rate.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { countRows } from '../support/gate.ts';

const NOW = Date.parse('2027-03-10T12:00:00.000Z');

/** Runs `work` on a ledger in its own storage; `reopen` opens the ledger as after a restart. */
const withLedger = (work: (reopen: () => Ledger, sql: SqlStorage) => void) =>
  runInDurableObject(env.GATE.getByName(newId('acct')), (_instance, { storage }) => {
    work(() => openLedger(storage.sql, openOutgoing(storage.sql).kept), storage.sql);
  });

test('a commit writes one row, and a day’s first commit a few', () =>
  withLedger((reopen, sql) => {
    const ledger = reopen();
    const verify = (nowMs: number) => {
      ledger.count('verify', 0, nowMs);
      ledger.useKey('key_1', nowMs);
      ledger.noteValidVerify(nowMs);
      ledger.write();
    };
    verify(NOW);
    expect(countRows(sql, () => verify(NOW + 1_000))).toBe(1);
    expect(countRows(sql, () => verify(NOW + 2_000))).toBe(1);
    expect(countRows(sql, () => verify(NOW + DAY_MS))).toBeLessThanOrEqual(5);
    expect(countRows(sql, ledger.write)).toBe(0);
  }));

test('usage by product shares the row of the other counts, and is deleted in the next period', () =>
  withLedger((reopen, sql) => {
    const ledger = reopen();
    const verify = (startMs: number, nowMs: number) => {
      ledger.count('verify', startMs, nowMs);
      ledger.countProduct('orrery', startMs, nowMs);
      ledger.write();
    };
    verify(NOW, NOW);
    verify(NOW, NOW + DAY_MS);
    expect(countRows(sql, () => verify(NOW, NOW + DAY_MS))).toBe(1);
    expect(ledger.productUsage(NOW)).toEqual([{ code: 'orrery', calls: 3 }]);
    const nextMs = NOW + 30 * DAY_MS;
    verify(nextMs, nextMs);
    verify(nextMs, nextMs + DAY_MS);
    expect(reopen().productUsage(nextMs)).toEqual([{ code: 'orrery', calls: 2 }]);
    expect(reopen().productUsage(NOW)).toEqual([]);
    const rows = sql.exec("SELECT name FROM counters WHERE name LIKE 'product:%'").toArray();
    expect(rows).toEqual([{ name: `product:${nextMs}:orrery` }]);
  }));

/** The platform repeats a call for this long. */
const REPEATS_MS = 10_000;

test('a call is recognized for as long as it may be repeated, even if its account calls as fast as it may', () =>
  withLedger((reopen) => {
    const most = (PLANS.scale.accountCallsPerSecond * (REPEATS_MS + RATE_WINDOW_MS)) / 1_000;
    // Memory is cleared in steps, so it matters how many calls have come before.
    for (let before = 999; before < most; before += 1_000) {
      const ledger = reopen();
      for (let call = 0; call < before; call++) ledger.count('verify', 0, NOW, `before-${call}`);
      ledger.count('verify', 0, NOW, 'repeated');
      for (let call = 1; call < most; call++) ledger.count('verify', 0, NOW, `after-${call}`);
      expect(ledger.hasCounted('repeated')).toBe(true);
    }
  }));

const KEYS = Array.from({ length: 60 }, (_, i) => `key_${i}`);

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      call: fc.constantFrom<CountedCall>('verify', 'create'),
      product: fc.constantFrom(null, 'orrery', 'orrery:2'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ keys: fc.subarray(KEYS, { maxLength: 20 }) }) },
  { weight: 2, arbitrary: fc.record({ waitMs: fc.constantFrom(1, 30_000, 60_000, DAY_MS) }) },
  fc.constant('carry' as const),
  fc.constant('restart' as const),
);

test('counts and key uses are exact over days, periods and restarts', () =>
  withLedger((reopen, sql) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        sql.exec('DELETE FROM counters; DELETE FROM recent_counters');
        let ledger = reopen();
        let [nowMs, period] = [NOW, 0];
        const usage = new Map<number, number>();
        const products = new Map<string, number>();
        const days = new Map<string, { date: string; verify: number; create: number }>();
        const usedMs = new Map<string, number>();
        const add = (call: CountedCall, startMs: number, atMs: number, amount: number) => {
          const date = isoDate(atMs);
          const day = days.get(date) ?? { date, verify: 0, create: 0 };
          days.set(date, { ...day, [call]: day[call] + amount });
          usage.set(startMs, (usage.get(startMs) ?? 0) + amount);
        };
        for (const next of steps) {
          if (next === 'restart') ledger = reopen();
          else if (next === 'carry') {
            const used = usage.get(period) ?? 0;
            ledger.carry(period, ++period, nowMs);
            usage.set(period, used);
          } else if ('waitMs' in next) nowMs += next.waitMs;
          else if ('call' in next) {
            ledger.count(next.call, period, nowMs);
            if (next.product !== null) {
              ledger.countProduct(next.product, period, nowMs);
              products.set(next.product, (products.get(next.product) ?? 0) + 1);
            }
            add(next.call, period, nowMs, 1);
          } else {
            for (const keyId of next.keys) {
              ledger.useKey(keyId, nowMs);
              if (nowMs - (usedMs.get(keyId) ?? 0) >= 60_000) usedMs.set(keyId, nowMs);
            }
          }
          ledger.write();
        }
        for (const opened of [ledger, reopen()]) {
          for (let start = 0; start <= period; start++)
            expect(opened.periodUsage(start)).toBe(usage.get(start) ?? 0);
          const byProduct = opened.productUsage(period).map(({ code, calls }) => [code, calls]);
          expect(new Map(byProduct as [string, number][])).toEqual(products);
          expect(opened.days('2027-03-10')).toEqual([...days.values()]);
          expect(KEYS.map(opened.keyLastUsedMs)).toEqual(KEYS.map((id) => usedMs.get(id) ?? null));
        }
      }),
    );
  }));
