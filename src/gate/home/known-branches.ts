import type { Region } from '../../shared/rules/regions.ts';
import type { Ledger } from '../object/ledger.ts';
import {
  leasedUntil,
  leasedUntilAtStart,
  openRecentCalls,
  renewAfterMs,
  storedLeaseMs,
} from '../rules/lease.ts';
import {
  confirmShare,
  endShare,
  type Escrow,
  grant,
  homeShare,
  inForce,
  mergeReports,
  newEscrow,
  offerShare,
  share,
  shareOfCall,
  WHOLE,
} from '../rules/limits.ts';
import type { LeasedBranch, Report } from '../rules/messages.ts';
import type { BranchStore } from './branch-store.ts';
import type { Copy } from './copy.ts';
import type { HomeUsage, TrafficTable } from './usage.ts';

/** What home knows of a branch in memory. */
interface KnownBranch extends LeasedBranch {
  region: Region;
  /** What the branch has applied, or null until it has reported. */
  reported: number | null;
  /** When it last reported to this process. */
  heardMs: number;
  isLapsed: boolean;
  usedLately: number;
}

/** What home knows of its branches: their leases, what they have applied and counted, and their shares of the rate limits. */
export const openKnownBranches = (
  {
    copy,
    ledger,
    traffic,
    branches: store,
  }: { copy: Copy; ledger: Ledger; traffic: TrafficTable; branches: BranchStore },
  usage: HomeUsage,
  leaseMs: number,
) => {
  const startedMs = Date.now();
  /** A branch reports its calls of about one interval between renewals, and a grant lasts for two leases. */
  const intervalsInTwoLeases = Math.ceil((2 * leaseMs) / renewAfterMs(leaseMs));
  const { records, shares } = store;
  const known = new Map<Region, KnownBranch>();
  const recentAtHome = openRecentCalls(startedMs, () => renewAfterMs(leaseMs));

  const add = (region: Region, leasedUntilMs: number, reported: number | null = null) => {
    known.set(region, {
      region,
      leasedUntilMs,
      applied: reported ?? 0,
      reported,
      heardMs: 0,
      isLapsed: false,
      usedLately: 0,
    });
  };
  // Leases are not stored. Every branch may have renewed its own just before this start.
  for (const [region, { leaseMs: storedMs, applied }] of records)
    add(region, leasedUntilAtStart(startedMs, storedMs), applied);

  const allShares = () => [...known.keys()].map(shares.get);

  /** Takes the shares back of branches whose lease has ended. It is stored before others are offered more. */
  const lapse = (nowMs: number) => {
    for (const branch of known.values()) {
      if (branch.isLapsed || nowMs < branch.leasedUntilMs) continue;
      Object.assign(branch, { isLapsed: true, usedLately: 0 });
      shares.save(branch.region, endShare(shares.get(branch.region)));
    }
  };

  const perSecond = (callsInInterval: number) => (callsInInterval * 1_000) / renewAfterMs(leaseMs);

  /**
   * Returns the next share of each branch, by what was asked in about the last interval between renewals. A home that has just
   * refused a call for its rate may be asked for the whole limit.
   */
  const nextShares = (nowMs: number, hasRefused = false): [Region, number][] => {
    lapse(nowMs);
    const perCall = shareOfCall(copy.account(), nowMs);
    const askedAtHome = Math.max(perSecond(recentAtHome.count(nowMs)), hasRefused ? WHOLE / perCall : 0);
    const branches = [...known.values()];
    const offers = share(
      WHOLE,
      branches.map(({ region, usedLately }) => ({ ...shares.get(region), asked: perSecond(usedLately) })),
      { askedAtHome, perCall },
    );
    return branches.flatMap(({ region }, i) => {
      const offer = offers[i] ?? null;
      return offer === null ? [] : [[region, offer]];
    });
  };

  const offer = (region: Region, part: number) => shares.save(region, offerShare(shares.get(region), part));

  /** Returns a leased branch's escrows with a new grant in the present period. */
  const grantMore = (branch: KnownBranch, escrows: Escrow[], nowMs: number): Escrow[] => {
    const { region, leasedUntilMs, usedLately } = branch;
    const { startMs } = usage.at(nowMs).period;
    const quota = usage.quotaThrough(nowMs, leasedUntilMs);
    const escrow = usage.escrowIn(quota, region) ?? newEscrow(startMs);
    const granted = escrow.granted + grant(quota, escrow, usedLately * intervalsInTwoLeases);
    const others = escrows.filter(({ periodStartMs }) => periodStartMs !== startMs);
    return [...others, { ...escrow, granted }];
  };

  return {
    all: () => [...known.values()],
    get: (region: Region) => known.get(region),
    open: (region: Region) => add(region, 0),
    remove: (region: Region) => known.delete(region),

    countAtHome: recentAtHome.note,

    /**
     * Merges a branch's report in memory. Returns false for a report of an earlier opening. A report that is late or repeated
     * changes nothing, and one that is lost before the next commit is made good by the next one.
     */
    hear: (region: Region, report: Report): boolean => {
      const record = records.get(region);
      const branch = known.get(region);
      if (!branch || record?.opening !== report.opening) return false;
      const nowMs = Date.now();
      branch.heardMs = nowMs;
      branch.applied = Math.max(branch.applied, report.applied);
      branch.reported = Math.max(branch.reported ?? 0, report.applied);
      branch.usedLately = report.usedLately;
      shares.note(region, confirmShare(shares.get(region), report.share));
      const escrows = mergeReports(record.escrows, report.escrows);
      const present = copy.account() && usage.at(nowMs);
      let { counters = {} } = record;
      if (report.counters)
        counters = ledger.hearBranch(counters, report.counters, {
          isKey: (id) => copy.key(id)?.deleted === false,
          periodStartMs: present?.period.startMs ?? 0,
          nowMs,
        });
      if (escrows !== record.escrows || report.counters)
        store.update(region, { ...record, escrows, counters });
      if (report.traffic) traffic.hear(record.opening, report.traffic);
      if (present) usage.note(usage.at(nowMs), nowMs);
      return true;
    },

    /** Grants a branch calls, offers it a share, and prolongs its lease, as part of the current transaction. */
    grantAndLease: (region: Region, nowMs: number) => {
      const record = records.get(region);
      const branch = known.get(region);
      if (!record || !branch) return;
      for (const [name, part] of nextShares(nowMs)) if (name === region) offer(region, part);
      branch.leasedUntilMs = leasedUntil(branch.leasedUntilMs, nowMs, leaseMs);
      branch.isLapsed = false;
      const escrows = grantMore(branch, record.escrows, nowMs);
      const storedMs = storedLeaseMs(branch.leasedUntilMs, nowMs);
      const { applied } = branch;
      // Written each time, so that an object that was replaced can't answer a renewal.
      store.update(region, { ...record, escrows, leaseMs: storedMs, renewedAtMs: nowMs, applied });
    },

    /** Offers smaller shares where home is asked for more. Returns the branches that have to learn of it. */
    lowerShares: (nowMs: number): Region[] =>
      nextShares(nowMs, true).flatMap(([region, part]) => {
        if (part >= inForce(shares.get(region))) return [];
        offer(region, part);
        return [region];
      }),

    /** The part of each rate limit that home may allow. */
    homeShare: (nowMs: number): number => {
      if (known.size === 0) return WHOLE;
      lapse(nowMs);
      return homeShare(WHOLE, allShares());
    },
  };
};

export type KnownBranches = ReturnType<typeof openKnownBranches>;
