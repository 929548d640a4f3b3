import type { Region } from '../../shared/rules/regions.ts';
import type { LeasedBranch } from './acks.ts';
import { leasedUntilAtStart, renewAfterMs } from './lease.ts';
import type { BranchStore } from './branch-store.ts';
import { openRecentCalls } from './recent-calls.ts';
import { confirmShare, endShare, homeShare, type KnownShare, share } from './shares.ts';
import type { Report } from './messages.ts';

/** What home knows of a branch in memory. */
export interface KnownBranch extends LeasedBranch {
  region: Region;
  /** What the branch has applied, or null until it has reported to this process. */
  reported: number | null;
  /** When it last reported to this process. */
  heardMs: number;
  share: KnownShare;
  isLapsed: boolean;
  usedLately: number;
}

/** Shares are parts of each rate limit of the account. */
const WHOLE = 1;

/** Home's memory of its branches: their leases, what they have applied, and their shares of the rate limits. */
export const openKnownBranches = (store: BranchStore, startedMs: number, leaseMs: number) => {
  const known = new Map<Region, KnownBranch>();
  const usedAtHome = openRecentCalls(startedMs, () => renewAfterMs(leaseMs));

  const add = (region: Region, leasedUntilMs: number, isNew: boolean) => {
    const nothing = { number: 0, perSecond: 0 };
    known.set(region, {
      region,
      leasedUntilMs,
      applied: 0,
      reported: null,
      heardMs: 0,
      share: { offered: null, confirmed: isNew ? nothing : null },
      isLapsed: false,
      usedLately: 0,
    });
  };
  // Leases are not stored. Every branch may have renewed its own just before this start.
  for (const [region, record] of store.records)
    add(region, leasedUntilAtStart(startedMs, record.leaseMs), false);

  /** Takes the shares back of branches whose lease has ended. */
  const lapse = (nowMs: number) => {
    for (const branch of known.values()) {
      if (branch.isLapsed || nowMs < branch.leasedUntilMs) continue;
      Object.assign(branch, {
        isLapsed: true,
        usedLately: 0,
        share: endShare(branch.share, store.facts.term),
      });
    }
  };

  return {
    all: () => [...known.values()],
    get: (region: Region) => known.get(region),
    open: (region: Region) => add(region, 0, true),
    remove: (region: Region) => known.delete(region),

    countAtHome: usedAtHome.note,

    hear: (region: Region, report: Report, nowMs: number) => {
      const branch = known.get(region);
      if (!branch) return;
      branch.heardMs = nowMs;
      branch.applied = Math.max(branch.applied, report.applied);
      branch.reported = Math.max(branch.reported ?? 0, report.applied);
      branch.share = confirmShare(branch.share, report.share, store.facts.term);
      branch.usedLately = report.usedLately;
    },

    /** Offers shares by the use in about the last interval between renewals. A branch should get at least `smallest`. */
    offerShares: (nowMs: number, smallest: number) => {
      lapse(nowMs);
      const branches = [...known.values()];
      const offers = share(
        WHOLE,
        branches.map((branch) => ({ ...branch.share, usedLately: branch.usedLately })),
        { usedAtHome: usedAtHome.count(nowMs), smallest },
      );
      for (const [i, branch] of branches.entries()) {
        const perSecond = offers[i] ?? null;
        if (perSecond === null) continue;
        const { offered, confirmed } = branch.share;
        const number = Math.max(offered?.number ?? 0, confirmed?.number ?? 0) + 1;
        branch.share = { ...branch.share, offered: { term: store.facts.term, number, perSecond } };
      }
    },

    /** The part of each rate limit that home may allow. */
    homeShare: (nowMs: number): number => {
      if (known.size === 0) return WHOLE;
      lapse(nowMs);
      return homeShare(
        WHOLE,
        [...known.values()].map((branch) => branch.share),
      );
    },
  };
};

export type KnownBranches = ReturnType<typeof openKnownBranches>;
