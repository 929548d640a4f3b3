import type { Report } from '../../../src/gate/rules/messages.ts';
import {
  type Home,
  type HomeSettings,
  knownBranch,
  newKnownBranch,
  openedBranches,
  quotaAt,
  tell,
} from './model-home-state.ts';
import type { Turn } from './model-process.ts';
import type { Rules } from './model-rules.ts';
import type { BranchName, HomeDisk } from './model-types.ts';

const OPEN_AFTER_CALLS = 2;
/** More than a branch without calls would get otherwise. */
const SMALLEST_SHARE = 12;

/** What home does with its branches: it opens, hears, renews and closes them. */
export const openBranches = (rules: Rules, { limit, callsPerSecond, periodAt }: HomeSettings) => {
  const openBranch = (home: Home, turn: Turn, name: BranchName) => {
    const { disk, memory } = home;
    if (!memory.settings.isOn) return;
    memory.calls[name]++;
    const region = name === 'A' ? 'weur' : 'oc';
    const opened = disk.branches[name] ? ([region] as const) : [];
    const calls = memory.calls[name];
    if (!rules.shouldOpen({ region, home: 'enam', opened, calls }, OPEN_AFTER_CALLS)) return;
    memory.calls[name] = 0;
    const share = rules.newShare();
    memory.known[name] = newKnownBranch(0, share);
    const openings = disk.openings + 1;
    const branches = { ...disk.branches, [name]: { opening: openings, escrows: [], leaseMs: 0, share } };
    turn.write({ ...disk, openings, branches } satisfies HomeDisk);
    tell(rules, home, turn, name, false);
  };

  /** Merges a branch's report, unless it is of an earlier opening. */
  const hear = (home: Home, turn: Turn, name: BranchName, report: Report): boolean => {
    const { disk, memory } = home;
    const record = disk.branches[name];
    if (record?.opening !== report.opening) return false;
    const known = knownBranch(home, name);
    known.applied = Math.max(known.applied, report.applied);
    known.reported = Math.max(known.reported ?? 0, report.applied);
    known.share = rules.confirmShare(known.share, report.share);
    known.usedLately = report.usedLately;
    let escrows = record.escrows;
    for (const reported of report.escrows) {
      const { periodStartMs } = reported;
      const before = rules.escrowOf(escrows, periodStartMs) ?? rules.newEscrow(periodStartMs);
      const merged = rules.mergeReport(before, reported);
      if (merged.spent === before.spent && merged.returned === before.returned) continue;
      escrows = [...escrows.filter((escrow) => escrow.periodStartMs !== periodStartMs), merged];
    }
    if (escrows !== record.escrows)
      turn.write({
        ...disk,
        branches: { ...disk.branches, [name]: { ...record, escrows } },
      } satisfies HomeDisk);
    const escrow = rules.escrowOf(escrows, periodAt(turn.nowMs));
    if (!escrow || !rules.isRecallable(escrow))
      for (const { waitsFor } of memory.parked) waitsFor.delete(name);
    return true;
  };

  /** Offers shares, which are on disk before they leave. What branches have confirmed is written with them. */
  const offerShares = (home: Home, turn: Turn, isAnyEnded = false) => {
    const names = openedBranches(home.disk);
    const offers = rules.share(
      callsPerSecond,
      names.map((name) => {
        const { share, usedLately } = knownBranch(home, name);
        return { ...share, usedLately };
      }),
      { smallest: SMALLEST_SHARE },
    );
    for (const [i, name] of names.entries()) {
      const perSecond = offers[i] ?? null;
      const known = knownBranch(home, name);
      if (perSecond !== null) known.share = rules.offerShare(known.share, perSecond);
    }
    if (!isAnyEnded && offers.every((perSecond) => perSecond === null)) return;
    const branches = { ...home.disk.branches };
    for (const name of names) {
      const record = branches[name];
      if (record) branches[name] = { ...record, share: knownBranch(home, name).share };
    }
    turn.write({ ...home.disk, branches } satisfies HomeDisk);
  };

  const renewBranch = (home: Home, turn: Turn, name: BranchName, report: Report) => {
    const known = knownBranch(home, name);
    known.leasedUntilMs = rules.leasedUntil(known.leasedUntilMs, turn.nowMs, home.memory.settings.leaseMs);
    known.isLapsed = false;
    const { disk } = home;
    const record = disk.branches[name];
    if (!record) return;
    const periodStartMs = periodAt(turn.nowMs);
    const quota = quotaAt(rules, home, limit, periodStartMs);
    const escrow = quota.escrows[openedBranches(disk).indexOf(name)] ?? rules.newEscrow(periodStartMs);
    const more = rules.grant(quota, escrow, report.usedLately);
    const escrows = [
      ...record.escrows.filter((other) => other.periodStartMs !== periodStartMs),
      { ...escrow, granted: escrow.granted + more },
    ];
    const leaseMs = rules.storedLeaseMs(known.leasedUntilMs, turn.nowMs);
    if (more > 0 || rules.writesRenewals) {
      const applied = rules.appliedAtRenewal(known.applied, disk.revision);
      const branches = { ...disk.branches, [name]: { ...record, escrows, leaseMs, applied } };
      turn.write({ ...disk, renewals: disk.renewals + 1, branches } satisfies HomeDisk);
    }
    offerShares(home, turn);
  };

  const onClose = (home: Home, turn: Turn, name: BranchName, report: Report) => {
    if (!hear(home, turn, name, report)) return;
    const { disk } = home;
    const counted = { ...disk.counted };
    for (const { periodStartMs, spent } of disk.branches[name]?.escrows ?? [])
      counted[periodStartMs] = (counted[periodStartMs] ?? 0) + spent;
    const { [name]: _closed, ...branches } = disk.branches;
    delete home.memory.known[name];
    for (const { waitsFor } of home.memory.parked) waitsFor.delete(name);
    turn.write({ ...disk, counted, branches } satisfies HomeDisk);
  };

  return { openBranch, hear, offerShares, renewBranch, onClose };
};
