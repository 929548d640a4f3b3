import { settingsOf } from '../../shared/config/settings.ts';
import { branchOf } from '../../shared/objects/address.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import type { Region } from '../../shared/rules/regions.ts';
import type { StoredPlace } from '../moving/place.ts';
import type { Relay } from '../object/outgoing.ts';
import { isGone, mayHaveBranch, openCallWindows, shouldOpen } from '../rules/lease.ts';
import { type Escrow, exposure, remaining, usedByOthers } from '../rules/limits.ts';
import {
  type BranchUpdate,
  type ChangedRow,
  isOfSeats,
  needsAck,
  type RenewalReply,
  type Report,
} from '../rules/messages.ts';
import { openKnownBranches } from './known-branches.ts';
import { openRestored } from './restored-branches.ts';
import type { HomeStore } from './store.ts';
import { openTelling } from './telling.ts';
import type { HomeUsage } from './usage.ts';

/** How often home looks whether branches may still be leased that a backup didn't know. */
const RESTORED_MS = 500;

/** What home does with its branches: it opens, hears, renews and closes them. */
export const openHomeBranches = (
  { ctx, env, accountId, journal }: ObjectContext,
  home: HomeStore,
  usage: HomeUsage,
  relay: Pick<Relay, 'wantsVerified'>,
  place: Pick<StoredPlace, 'isLeaving'>,
) => {
  const { copy, ledger, branches: store } = home;
  const settings = settingsOf(env);
  const { records, facts } = store;
  const known = openKnownBranches(home, usage, settings.leaseMs);
  const restored = openRestored(ctx.storage.kv, settings.leaseMs);
  const calls = openCallWindows();

  /** Whether the region may have a branch. Otherwise home closes the branch that is still open there. */
  const isWanted = (region: Region) =>
    settings.hasRegions &&
    mayHaveBranch(region, copy.account()?.homeRegion ?? null) &&
    !restored.isLeftOver(records.get(region)?.opening ?? Infinity);

  /** Returns everything that home tells a branch. `after` is the revision that the branch has applied, if home knows it. */
  const updateFor = (region: Region, after: number | null, isRecall: boolean): BranchUpdate => {
    const { opening = 0, escrows = [] } = records.get(region) ?? {};
    return {
      opening,
      feed: after === null ? null : store.feedAfter(after),
      grants: escrows.map((escrow) => ({
        periodStartMs: escrow.periodStartMs,
        granted: escrow.granted,
        others: usedByOthers(usage.quotaOf(escrow.periodStartMs, 0), escrow),
      })),
      share: store.shares.get(region).offered,
      isRecall,
      isClosing: !isWanted(region),
      account: copy.account(),
      wantsVerified: relay.wantsVerified(),
    };
  };

  /**
   * Takes over what a branch has counted, and removes it, as part of the current transaction. It counts nothing any more.
   * `callsOf` returns how many calls of an escrow count.
   */
  const takeOver = (region: Region, callsOf: (escrow: Escrow) => number) => {
    const { escrows = [], counters = {} } = records.get(region) ?? {};
    const spent = escrows.map((escrow): [number, number] => [escrow.periodStartMs, callsOf(escrow)]);
    ledger.takeOver(spent, Object.entries(counters), Date.now());
    store.remove(region);
    known.remove(region);
  };

  /** Merges a branch's report, as part of the current transaction, also of a branch that was opened after a restored backup. */
  const hear = (region: Region, report: Report): boolean => {
    if (restored.adopts(report.opening, records.get(region)?.opening ?? 0)) {
      takeOver(region, exposure);
      store.adopt(region, report, Date.now());
      known.open(region);
    }
    return known.hear(region, report);
  };

  const telling = openTelling(known, facts.revision, async (region, isRecall) => {
    // A share that has ended is offered like any other, so it has to be stored.
    journal.change(() => {});
    const update = updateFor(region, known.get(region)?.reported ?? null, isRecall);
    const report = await branchOf(env, accountId, region).tell(update);
    if (place.isLeaving()) throw new Error('The account is moving to another object.');
    const isHeard = journal.change(() => hear(region, report));
    const isLost = report.isClosed || (report.opening < update.opening && update.grants.length > 0);
    if (isLost && records.get(region)?.opening === update.opening)
      return journal.change(() => takeOver(region, exposure));
    // The next attempt comes a little later.
    if (!isHeard || report.applied < (update.feed?.through ?? 0)) throw new Error('The branch is behind.');
  });

  /** Tells branches to close that a new setting or another home has left over. They repeat it until home has answered. */
  const closeUnwanted = () => {
    for (const region of records.keys()) if (!isWanted(region)) ctx.waitUntil(telling.tell(region));
  };
  // The other branches learn of the start with their next renewal, so it wakes none of them.
  closeUnwanted();

  /**
   * Closes branches that may never return. What they were granted counts as spent, so the limit holds. If one does return, it
   * learns with its next renewal that it is closed.
   */
  const takeOverGone = (nowMs: number) => {
    for (const { region, leasedUntilMs, heardMs } of known.all()) {
      const { renewedAtMs = 0 } = records.get(region) ?? {};
      if (nowMs < leasedUntilMs || !isGone(Math.max(renewedAtMs, heardMs), nowMs)) continue;
      journal.change(() => {
        takeOver(region, exposure);
        store.lost.add(region);
      });
    }
  };

  const open = (region: Region, nowMs: number) => {
    journal.change(() => store.open(region, nowMs));
    known.open(region);
  };

  /** Lets the branches drop their copies, because any row may have changed. Call it in a transaction. */
  const forgetLog = () => {
    if (records.size === 0) return;
    store.forgetLog();
    telling.raise(facts.revision);
  };

  return {
    isAnyOpen: () => records.size > 0 || restored.mayBeLeased(Date.now()),
    isOpen: (region: Region) => records.has(region),
    list: store.list,

    acknowledged: async () => {
      while (restored.mayBeLeased(Date.now())) await scheduler.wait(RESTORED_MS);
      await telling.acknowledged();
      takeOverGone(Date.now());
      closeUnwanted();
    },

    homeShare: known.homeShare,

    /** Counts a call that asks for home's share of the rate limits, also while no branch is open: the first one must leave a part. */
    countAtHome: (nowMs: number) => {
      if (settings.hasRegions) known.countAtHome(nowMs);
    },

    /** Home has refused a call for its rate: lets branches give back what they don't need as much. */
    recallShares: (nowMs: number) => {
      for (const region of known.lowerShares(nowMs)) ctx.waitUntil(telling.tell(region));
    },

    hear: known.hear,

    /** Whether the branch has been leased, so that callers may turn to it. */
    isLeased: (region: Region, nowMs: number) =>
      nowMs < (known.get(region)?.leasedUntilMs ?? 0) && isWanted(region),

    isOpening: (region: Region, opening: number) => records.get(region)?.opening === opening,
    revision: () => facts.revision,

    counters: store.counters,

    /** Counts a call that a branch could answer, and opens a branch for a region with many of them. */
    noteCall: (region: Region, nowMs: number) => {
      if (!settings.hasRegions) return;
      const count = calls.count(region, nowMs);
      if (count === 1) takeOverGone(nowMs);
      const isLost = records.has(region) && nowMs >= (known.get(region)?.leasedUntilMs ?? 0);
      const opened = isLost ? [] : [...records.keys()];
      const homeRegion = copy.account()?.homeRegion ?? null;
      const isDue = shouldOpen({ region, home: homeRegion, opened, calls: count }, settings.openAfterCalls);
      if (!copy.progress().complete || !isDue || restored.mayBeLeased(nowMs)) return;
      calls.forget(region);
      // A branch whose lease has ended may not have learned that it was opened.
      if (!isLost) open(region, nowMs);
      ctx.waitUntil(telling.tell(region));
    },

    /** Notes changes for the branches, as part of the transaction that applies them to home's copy. */
    log: (changes: ChangedRow[]) => {
      if (records.size === 0) return;
      // No branch has a row that is new, so an import doesn't fill the log. But branches count the seats that were taken.
      const noted = changes.filter((change) => needsAck(change) || isOfSeats(change));
      if (noted.length === 0) return;
      store.log(noted);
      if (noted.some(needsAck)) telling.raise(facts.revision);
      // A smaller plan may have left less than what the branches hold.
      if (changes.some(({ kind }) => kind === 'account')) telling.recallWithNext([...records.keys()]);
    },

    forgetLog,

    /** Returns once no branch has copies of what was erased before, nor an earlier event. Fails if one can't be reached. */
    eraseTraces: async (): Promise<void> => {
      const { revision } = facts;
      await telling.applied(revision);
      // A branch may have closed meanwhile, and still have events.
      const lost = store.lost.all();
      const regions = [...new Set([...records.keys(), ...lost])];
      await Promise.all(
        regions.map(async (region) => branchOf(env, accountId, region).eraseTraces(records.has(region))),
      );
      journal.change(() => {
        store.forgetApplied(revision);
        store.lost.remove(lost);
      });
    },

    /** Renews a lease. It reads the log in the turn in which it registers the lease. */
    renew: (region: Region, report: Report, nowMs: number): RenewalReply => {
      if (!copy.progress().complete) return null;
      const isHeard = journal.change(() => {
        const isBranch = hear(region, report);
        if (isBranch && isWanted(region)) known.grantAndLease(region, nowMs);
        return isBranch;
      });
      if (!isHeard) return { closed: report.opening };
      const leaseMs = isWanted(region) ? settings.leaseMs : 0;
      // More was granted than what a plan leaves that ends within the lease.
      const isOver = remaining(usage.quotaThrough(nowMs, nowMs + leaseMs)) < 0;
      return { update: updateFor(region, report.applied, isOver), leaseMs };
    },

    /** The branch has given back everything that it has not spent. */
    close: (region: Region, report: Report) => {
      journal.change(() => {
        if (!hear(region, report)) return;
        takeOver(region, ({ spent }) => spent);
        if (report.hasEvents) store.lost.add(region);
      });
    },

    /** Before home refuses a call by the usage limit: lets branches give back what they have not spent. */
    recallIfSpent: async (): Promise<void> => {
      if (records.size === 0 || !copy.account() || usage.at(Date.now()).remaining >= 1) return;
      const regions = usage.recallable(Date.now());
      if (regions.length > 0) await telling.recall(regions);
    },
  };
};

export type HomeBranches = ReturnType<typeof openHomeBranches>;
