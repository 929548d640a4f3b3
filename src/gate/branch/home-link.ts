import { coalesce } from '../../shared/objects/coalesce.ts';
import { writeOrRestart } from '../../shared/objects/write-or-restart.ts';
import type { Ledger } from '../object/ledger.ts';
import type { BranchCopy } from './branch-copy.ts';
import type { BranchEscrows } from './escrows.ts';
import { isRunningLow } from '../rules/escrow.ts';
import {
  alarmIntervalMs,
  endsBeforeAlarm,
  isRenewalDue,
  type Lease,
  mayAnswer,
  renew,
} from '../rules/lease.ts';
import type { BranchUpdate, RenewalReply, Report } from '../rules/messages.ts';
import { shouldClose } from '../rules/opening.ts';
import { openRecentCalls } from '../rules/recent-calls.ts';
import { NO_SHARE, receiveShare, type ShareOffer } from '../rules/shares.ts';

interface Parts {
  ctx: DurableObjectState;
  copy: BranchCopy;
  escrows: BranchEscrows;
  ledger: Ledger;
  /** Writes everything that was counted, so that a report says nothing that isn't on disk. */
  writeCounts: () => void;
  /** The calls that the branch may still count in the present period. */
  unspent: (nowMs: number) => number;
  setWantsVerified: (wanted: boolean) => void;
  /** Called at the time of each change of the share of the rate limits. */
  noteShare: () => void;
  home: {
    renew: (report: Report) => Promise<RenewalReply>;
    close: (report: Report) => Promise<void>;
  };
}

/** How long a branch waits after a renewal without a lease before it tries another. */
const RETRY_MS = 3_000;
/** Home writes a row for the traffic that it is sent. */
const TRAFFIC_MS = 60_000;

/**
 * What a branch hears from home and tells it. The lease, the share of the rate limits and the others' usage are in memory
 * only: a restarted branch asks home first. `test/gate/regions/model-branch.ts` is its model.
 */
export const openBranchHome = (parts: Parts) => {
  const { ctx, copy, escrows, ledger, writeCounts, unspent, setWantsVerified, noteShare, home } = parts;
  const { facts } = copy;
  let lease: Lease | null = null;
  let share = NO_SHARE;
  /** What home and other branches have counted, by period. */
  let others = new Map<number, number>();
  const recentCalls = openRecentCalls(Date.now(), () => alarmIntervalMs(lease));
  let { lastCallMs } = facts;
  let lastRenewalMs = -Infinity;
  /** When home was told of changed counters for the last time. The last report has all of them. */
  let countersSentMs = 0;
  let trafficSentMs = -Infinity;

  const isOpen = () => facts.state === 'open';

  const shareOfRate = () => share.perSecond;

  const setShare = (changed: ShareOffer) => {
    share = changed;
    noteShare();
  };

  const noteOthers = (periodStartMs: number, calls: number) =>
    others.set(periodStartMs, Math.max(others.get(periodStartMs) ?? 0, calls));

  const forget = (opening: number, state: 'closed' | 'open') => {
    lease = null;
    setShare(NO_SHARE);
    others = new Map();
    lastCallMs = Date.now();
    lastRenewalMs = -Infinity;
    writeOrRestart(ctx, () => {
      copy.forget(opening, state, lastCallMs);
      escrows.forget();
      ledger.clear();
    });
  };

  const report = (): Report => {
    writeCounts();
    const { opening, applied } = facts;
    return { opening, applied, escrows: escrows.all(), share, usedLately: recentCalls.count(Date.now()) };
  };

  /** Stops to answer, and gives everything back. Home has to be told next, see `close`. */
  const stop = () => {
    lease = null;
    writeOrRestart(ctx, () => {
      copy.save({ state: 'closing' });
      escrows.giveBack();
    });
  };

  /** Gives everything back and stops to answer, and then tells home. Repeat it until home has answered. */
  const close = async () => {
    stop();
    const { opening } = facts;
    const last = { counters: ledger.changedSince(0, true), traffic: ledger.traffic.days() };
    await home.close({ ...report(), ...last });
    if (facts.opening === opening && facts.state === 'closing') forget(opening, 'closed');
  };

  /** Merges what home says. Returns false if it is about an earlier opening. */
  const hear = (update: BranchUpdate): boolean => {
    if (update.opening > facts.opening) {
      // What was granted in this opening may be spent: the branch had it on its disk, and has lost its disk.
      if (update.grants.length > 0) return false;
      forget(update.opening, 'open');
    }
    if (update.opening < facts.opening || facts.state === 'closed') return false;
    setShare(receiveShare(share, update.share));
    writeOrRestart(ctx, () => {
      const isCurrent = copy.apply(update, lastCallMs);
      if (isCurrent && update.wantsVerified !== null) setWantsVerified(update.wantsVerified);
      for (const { periodStartMs, others: calls } of update.grants) noteOthers(periodStartMs, calls);
      escrows.receive(update.grants);
      if (update.isRecall) escrows.giveBack();
    });
    if (update.isClosing) stop();
    return true;
  };

  /** Returns whether home has to learn what the answer has brought. */
  const renewOnce = async (): Promise<boolean> => {
    if (!isOpen()) return false;
    // The lease counts from here. The clock stands still during a turn, so this is never too late.
    const sentMs = Date.now();
    lastRenewalMs = sentMs;
    const sendsTraffic = Math.abs(sentMs - trafficSentMs) >= TRAFFIC_MS;
    const sent = {
      ...report(),
      counters: ledger.changedSince(countersSentMs, false),
      ...(sendsTraffic && { traffic: ledger.traffic.days() }),
    };
    const answer = await home.renew(sent);
    if (answer === null) return false;
    countersSentMs = sentMs;
    if (sendsTraffic) trafficSentMs = sentMs;
    if ('closed' in answer) {
      if (answer.closed === facts.opening) forget(facts.opening, 'closed');
      return false;
    }
    const isHeard = hear(answer.update);
    if (facts.state === 'closing') await close();
    if (!isHeard || facts.opening !== sent.opening || !isOpen()) return false;
    const through = answer.update.feed?.through ?? 0;
    lease = renew(lease, { sentMs, leaseMs: answer.leaseMs, through }, facts.applied);
    return facts.applied > sent.applied || shareOfRate() === 0;
  };

  /**
   * Renews the lease. A second renewal confirms changes, which wait for the branch, and a share of 0: home offers another one
   * only then.
   */
  const renewNow = coalesce(async () => {
    if (await renewOnce()) await renewOnce();
  });

  return {
    isOpen,
    /** Without a share of the rate limits, a branch answers nothing. */
    mayAnswer: (nowMs: number) => isOpen() && mayAnswer(lease, nowMs) && shareOfRate() > 0,
    shareOfRate,
    othersIn: (periodStartMs: number) => others.get(periodStartMs) ?? 0,
    noteOthers,
    report,
    hear,
    renew: renewNow,

    noteCall: (nowMs: number) => {
      lastCallMs = nowMs;
      recentCalls.note(nowMs);
    },

    /** Whether a call should start a renewal: if the lease or the grant will end soon, or to get a share of the rate limits. */
    isRenewalDue: (nowMs: number) =>
      Math.abs(nowMs - lastRenewalMs) >= RETRY_MS &&
      isOpen() &&
      (isRenewalDue(lease, nowMs) ||
        shareOfRate() === 0 ||
        isRunningLow(unspent(nowMs), recentCalls.count(nowMs))),

    alarmIntervalMs: () => alarmIntervalMs(lease),

    /** Whether the lease would end before the next alarm. */
    endsBeforeAlarm: (nowMs: number) => isOpen() && endsBeforeAlarm(lease, nowMs),

    isClosing: () => facts.state === 'closing',
    shouldClose: (nowMs: number) => facts.state === 'closing' || (isOpen() && shouldClose(lastCallMs, nowMs)),
    close,
  };
};

export type BranchHome = ReturnType<typeof openBranchHome>;
