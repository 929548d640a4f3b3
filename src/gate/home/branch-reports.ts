import type { Region } from '../../shared/rules/regions.ts';
import { writeOrRestart } from '../../shared/objects/write-or-restart.ts';
import type { Copy } from './copy.ts';
import type { Ledger } from '../object/ledger.ts';
import type { BranchStore } from './branch-store.ts';
import { type Escrow, escrowOf, mergeReport, newEscrow } from '../rules/escrow.ts';
import type { KnownBranches } from './known-branches.ts';
import type { Report } from '../rules/messages.ts';
import type { Usage, UsageAt } from '../rules/usage.ts';

interface Parts {
  ctx: DurableObjectState;
  store: BranchStore;
  known: KnownBranches;
  copy: Pick<Copy, 'account' | 'key'>;
  ledger: Pick<Ledger, 'hearBranch' | 'takeOver'>;
  usageAt: UsageAt;
  noteUsage: (usage: Usage, nowMs: number) => void;
  /** Writes counts and events, as part of the current transaction. */
  writeCounts: () => void;
  /** Forwards written events soon. */
  relaySoon: () => Promise<void>;
}

/** What home does with its branches' reports. A report that is late or repeated changes nothing. */
export const openHomeReports = (parts: Parts) => {
  const { ctx, store, known, copy, ledger, usageAt, noteUsage } = parts;
  const { records } = store;

  /**
   * Writes what branches have reported. A call that was forwarded with a report leaves that to its own commit, which it shares
   * with other calls. Nothing is lost without it: a branch reports the same again.
   */
  const write = (change: () => void = store.write) => {
    writeOrRestart(ctx, () => {
      change();
      parts.writeCounts();
    });
    ctx.waitUntil(parts.relaySoon());
  };

  return {
    write,

    /** Merges a branch's report in memory. Returns false for a report of an earlier opening. */
    hear: (region: Region, report: Report): boolean => {
      const record = records.get(region);
      if (record?.opening !== report.opening) return false;
      const nowMs = Date.now();
      known.hear(region, report, nowMs);
      let { escrows, counters = {} } = record;
      for (const reported of report.escrows) {
        const { periodStartMs } = reported;
        const before = escrowOf(escrows, periodStartMs) ?? newEscrow(periodStartMs);
        const merged = mergeReport(before, reported);
        if (merged.spent === before.spent && merged.returned === before.returned) continue;
        escrows = [...escrows.filter((escrow) => escrow.periodStartMs !== periodStartMs), merged];
      }
      const usage = copy.account() && usageAt(nowMs);
      if (report.counters)
        counters = ledger.hearBranch(counters, report.counters, {
          isKey: (id) => copy.key(id)?.deleted === false,
          periodStartMs: usage?.period.startMs ?? 0,
          nowMs,
        });
      if (escrows !== record.escrows || report.counters)
        store.update(region, { ...record, escrows, counters });
      if (report.traffic) store.traffic.hear(record.opening, report.traffic);
      if (usage) noteUsage(usageAt(nowMs), nowMs);
      return true;
    },

    /** Closes a branch that counts nothing any more. `callsOf` returns the calls of which home can't know better. */
    settle: (region: Region, callsOf: (escrow: Escrow) => number) => {
      const { escrows = [], counters = {} } = records.get(region) ?? {};
      write(() => {
        const calls = escrows.map((escrow): [number, number] => [escrow.periodStartMs, callsOf(escrow)]);
        ledger.takeOver(calls, Object.entries(counters), Date.now());
        store.remove(region);
      });
      known.remove(region);
    },
  };
};
