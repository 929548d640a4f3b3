import type { Settings } from '../../shared/config/settings.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { writeOrRestart } from '../../shared/objects/write-or-restart.ts';
import type { Copy } from './copy.ts';
import type { Ledger } from '../object/ledger.ts';
import { type ChangedRow, needsAck } from '../rules/acks.ts';
import { openBranchStore } from './branch-store.ts';
import { exposure, grant, newEscrow, usedByOthers } from '../rules/escrow.ts';
import { openHomeQuota } from './branch-quota.ts';
import { openHomeReports } from './branch-reports.ts';
import { openKnownBranches } from './known-branches.ts';
import { leasedUntil, renewAfterMs, storedLeaseMs } from '../rules/lease.ts';
import type { BranchUpdate, RenewalReply, Report } from '../rules/messages.ts';
import { isGone, mayHaveBranch, OPEN_WINDOW_MS, shouldOpen } from '../rules/opening.ts';
import { smallestShare } from '../rules/shares.ts';
import { openWaiting } from './waiting.ts';
import type { Usage, UsageAt } from '../rules/usage.ts';

interface Parts {
  ctx: DurableObjectState;
  settings: Pick<Settings, 'hasRegions' | 'leaseMs' | 'openAfterCalls'>;
  copy: Pick<Copy, 'account' | 'key' | 'progress'>;
  wantsVerified: () => boolean | null;
  ledger: Pick<Ledger, 'periodUsage' | 'hearBranch' | 'takeOver'>;
  usageAt: UsageAt;
  noteUsage: (usage: Usage, nowMs: number) => void;
  /** Writes counts and events, as part of the current transaction. */
  writeCounts: () => void;
  /** Forwards written events soon. */
  relaySoon: () => Promise<void>;
  tell: (region: Region, update: BranchUpdate) => Promise<Report>;
}

/** What home does with its branches: it opens, hears, renews and closes them. `test/gate/regions/model-home.ts` is its model. */
export const openHomeBranches = (parts: Parts) => {
  const { ctx, settings, copy, ledger, usageAt, wantsVerified } = parts;
  const store = openBranchStore(ctx.storage.sql);
  const { records, facts } = store;
  const known = openKnownBranches(store, Date.now(), settings.leaseMs);
  /** A branch reports its calls of about one interval between renewals, and a grant lasts for two leases. */
  const intervalsInTwoLeases = Math.ceil((2 * settings.leaseMs) / renewAfterMs(settings.leaseMs));
  const quota = openHomeQuota(store, ledger, usageAt);
  /** Calls by region, in windows of a minute. */
  const calls = new Map<Region, { sinceMs: number; count: number }>();

  /** Whether the region may have a branch. Otherwise home closes the branch that is still open there. */
  const isWanted = (region: Region) =>
    settings.hasRegions && mayHaveBranch(region, copy.account()?.homeRegion ?? null);

  const updateFor = (region: Region, after: number | null, isRecall: boolean): BranchUpdate => {
    const { opening = 0, escrows = [] } = records.get(region) ?? {};
    return {
      opening,
      feed: after === null ? null : store.feedAfter(after),
      grants: escrows.map((escrow) => ({
        periodStartMs: escrow.periodStartMs,
        granted: escrow.granted,
        others: usedByOthers(quota.quotaOf(escrow.periodStartMs, 0), escrow),
      })),
      share: store.shares.get(region).offered,
      isRecall,
      isClosing: !isWanted(region),
      account: copy.account(),
      wantsVerified: wantsVerified(),
    };
  };

  const { hear, settle, write } = openHomeReports({ ...parts, store, known });

  const waiting = openWaiting({
    branches: known.all,
    revision: facts.revision,
    tell: async (region, isRecall) => {
      // A share that has ended is offered like any other, so it has to be stored.
      writeOrRestart(ctx, store.write);
      const update = updateFor(region, known.get(region)?.reported ?? null, isRecall);
      const report = await parts.tell(region, update);
      const isHeard = hear(region, report);
      write();
      const isLost = report.opening < update.opening && update.grants.length > 0;
      if (isLost && records.get(region)?.opening === update.opening) return settle(region, exposure);
      // The next attempt comes a little later.
      if (!isHeard || report.applied < (update.feed?.through ?? 0)) throw new Error('The branch is behind.');
    },
  });

  /** Tells branches to close that a new setting or another home has left over. They repeat it until home has answered. */
  const closeUnwanted = () => {
    for (const region of records.keys()) if (!isWanted(region)) ctx.waitUntil(waiting.tell(region));
  };
  // The other branches learn of the start with their next renewal, so it wakes none of them.
  closeUnwanted();

  /**
   * Closes branches that may never return. What they were granted counts as spent, so the limit holds, and a branch that returns
   * all the same learns with its next renewal that it is closed.
   */
  const settleGone = (nowMs: number) => {
    for (const { region, leasedUntilMs, heardMs } of known.all()) {
      const { renewedAtMs = 0 } = records.get(region) ?? {};
      if (nowMs >= leasedUntilMs && isGone(Math.max(renewedAtMs, heardMs), nowMs)) settle(region, exposure);
    }
  };

  const open = (region: Region, nowMs: number) => {
    writeOrRestart(ctx, () => store.open(region, nowMs));
    known.open(region);
  };

  /** Lets the branches drop their copies. */
  const logAll = () => {
    if (records.size === 0) return;
    store.log([{ kind: 'all', ref: '' }]);
    waiting.raise(facts.revision);
  };

  return {
    isAnyOpen: () => records.size > 0,
    list: store.list,

    acknowledged: async () => {
      await waiting.acknowledged();
      settleGone(Date.now());
      closeUnwanted();
    },

    homeShare: known.homeShare,

    /** Counts a call that spends home's share of the rate limits, also while no branch is open: the first one must leave a part. */
    countAtHome: (nowMs: number) => {
      if (settings.hasRegions) known.countAtHome(nowMs);
    },

    hear,
    /** Writes what was heard, as part of the current commit. */
    write: store.write,

    /** Whether the branch has been leased, so that callers may turn to it. */
    isLeased: (region: Region, nowMs: number) =>
      nowMs < (known.get(region)?.leasedUntilMs ?? 0) && isWanted(region),

    isOpening: (region: Region, opening: number) => records.get(region)?.opening === opening,
    revision: () => facts.revision,

    callsIn: quota.callsIn,
    othersThan: quota.othersThan,
    exposureIn: quota.exposureIn,

    counters: store.counters,

    /** Counts a call that a branch could answer, and opens a branch for a region with many of them. */
    noteCall: (region: Region, nowMs: number) => {
      if (!settings.hasRegions) return;
      const window = calls.get(region);
      const isOver = !window || nowMs - window.sinceMs >= OPEN_WINDOW_MS;
      if (isOver) settleGone(nowMs);
      const { sinceMs, count } = isOver ? { sinceMs: nowMs, count: 0 } : window;
      calls.set(region, { sinceMs, count: count + 1 });
      const isLost = records.has(region) && nowMs >= (known.get(region)?.leasedUntilMs ?? 0);
      const opened = isLost ? [] : [...records.keys()];
      const home = copy.account()?.homeRegion ?? null;
      const isDue = shouldOpen({ region, home, opened, calls: count + 1 }, settings.openAfterCalls);
      if (!copy.progress().complete || !isDue) return;
      calls.delete(region);
      // A branch whose lease has ended may not have learned that it was opened.
      if (!isLost) open(region, nowMs);
      ctx.waitUntil(waiting.tell(region));
    },

    /** Notes changes for the branches, as part of the transaction that applies them to home's copy. */
    log: (changes: ChangedRow[]) => {
      if (records.size === 0) return;
      // No branch has a row that is new, so an import doesn't fill the log. But branches count the seats that were taken.
      const noted = changes.filter((change) => needsAck(change) || change.kind === 'seat');
      if (noted.length === 0) return;
      store.log(noted);
      if (noted.some(needsAck)) waiting.raise(facts.revision);
      // A smaller plan may have left less than what the branches hold.
      if (changes.some(({ kind }) => kind === 'account')) waiting.recallWithNext([...records.keys()]);
    },

    /** The copy was loaded again, so any row may have changed. */
    logReload: logAll,

    /** Forgets which rows have changed. */
    forgetLog: () => {
      store.forgetLog();
      logAll();
    },

    hasOpenedAny: () => facts.openings > 0,

    /** Renews a lease, grants calls and offers a share. It reads the log in the turn in which it registers the lease. */
    renew: (region: Region, report: Report, nowMs: number): RenewalReply => {
      if (!copy.progress().complete) return null;
      if (!hear(region, report)) return { closed: report.opening };
      const record = records.get(region);
      const branch = known.get(region);
      if (!record || !branch) return { closed: report.opening };
      if (!isWanted(region)) {
        write();
        return { update: updateFor(region, report.applied, false), leaseMs: 0 };
      }
      known.offerShare(region, nowMs, smallestShare(copy.account(), nowMs));
      branch.leasedUntilMs = leasedUntil(branch.leasedUntilMs, nowMs, settings.leaseMs);
      branch.isLapsed = false;
      const { period, apiLimit } = usageAt(nowMs);
      const { startMs } = period;
      const left = quota.quotaOf(startMs, apiLimit);
      const escrow = quota.escrowIn(left, region) ?? newEscrow(startMs);
      const granted = escrow.granted + grant(left, escrow, report.usedLately * intervalsInTwoLeases);
      const others = record.escrows.filter(({ periodStartMs }) => periodStartMs !== startMs);
      const escrows = [...others, { ...escrow, granted }];
      // Written each time, so that an object that was replaced can't answer a renewal.
      const leaseMs = storedLeaseMs(branch.leasedUntilMs, nowMs);
      const { applied } = branch;
      store.update(region, { ...record, escrows, leaseMs, renewedAtMs: nowMs, applied });
      write();
      return { update: updateFor(region, report.applied, false), leaseMs: settings.leaseMs };
    },

    close: (region: Region, report: Report) => {
      if (hear(region, report)) settle(region, ({ spent }) => spent);
    },

    /** Before home refuses a call by the usage limit: lets branches give back what they have not spent. */
    recall: async (): Promise<void> => {
      const regions = quota.recallable(Date.now());
      if (regions.length > 0) await waiting.recall(regions);
    },
  };
};

export type HomeBranches = ReturnType<typeof openHomeBranches>;
