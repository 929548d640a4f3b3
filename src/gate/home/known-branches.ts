import type { Region } from '../../shared/rules/regions.ts';
import type { LeasedBranch } from '../rules/acks.ts';
import { leasedUntilAtStart, renewAfterMs } from '../rules/lease.ts';
import type { BranchStore } from './branch-store.ts';
import { openRecentCalls } from '../rules/recent-calls.ts';
import { confirmShare, endShare, homeShare, offerShare, share, WHOLE } from '../rules/shares.ts';
import type { Report } from '../rules/messages.ts';

/** What home knows of a branch in memory. */
export interface KnownBranch extends LeasedBranch {
  region: Region;
  /** What the branch has applied, or null until it has reported. */
  reported: number | null;
  /** When it last reported to this process. */
  heardMs: number;
  isLapsed: boolean;
  usedLately: number;
}

/** What home knows of its branches: their leases, what they have applied, and their shares of the rate limits. */
export const openKnownBranches = (store: BranchStore, startedMs: number, leaseMs: number) => {
  const { shares } = store;
  const known = new Map<Region, KnownBranch>();
  const usedAtHome = openRecentCalls(startedMs, () => renewAfterMs(leaseMs));

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
  for (const [region, { leaseMs: storedMs, applied }] of store.records)
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

  return {
    all: () => [...known.values()],
    get: (region: Region) => known.get(region),
    open: (region: Region) => add(region, 0),
    remove: (region: Region) => known.delete(region),

    countAtHome: usedAtHome.note,

    hear: (region: Region, report: Report, nowMs: number) => {
      const branch = known.get(region);
      if (!branch) return;
      branch.heardMs = nowMs;
      branch.applied = Math.max(branch.applied, report.applied);
      branch.reported = Math.max(branch.reported ?? 0, report.applied);
      shares.note(region, confirmShare(shares.get(region), report.share));
      branch.usedLately = report.usedLately;
    },

    /**
     * Offers a branch a share by the use in about the last interval between renewals. It should get at least `smallest`.
     */
    offerShare: (region: Region, nowMs: number, smallest: number) => {
      lapse(nowMs);
      const branches = [...known.values()];
      const offers = share(
        WHOLE,
        branches.map((branch) => ({ ...shares.get(branch.region), usedLately: branch.usedLately })),
        { usedAtHome: usedAtHome.count(nowMs), smallest },
      );
      const perSecond = offers[branches.findIndex((branch) => branch.region === region)] ?? null;
      if (perSecond !== null) shares.save(region, offerShare(shares.get(region), perSecond));
    },

    /** The part of each rate limit that home may allow. */
    homeShare: (nowMs: number): number => {
      if (known.size === 0) return WHOLE;
      lapse(nowMs);
      return homeShare(WHOLE, allShares());
    },
  };
};

export type KnownBranches = ReturnType<typeof openKnownBranches>;
