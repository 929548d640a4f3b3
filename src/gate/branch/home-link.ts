import { gateOf, rememberEpoch } from '../../shared/objects/address.ts';
import { coalesce } from '../../shared/objects/coalesce.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { logError } from '../../shared/text/log.ts';
import type { AdmissionControl } from '../object/admission.ts';
import type { Ledger } from '../object/ledger.ts';
import type { Relay } from '../object/outgoing.ts';
import {
  alarmIntervalMs,
  endsBeforeAlarm,
  isRenewalDue,
  type Lease,
  mayAnswer,
  openRecentCalls,
  renew,
  shouldClose,
} from '../rules/lease.ts';
import { isRunningLow, NO_SHARE, receiveShare, type ShareOffer } from '../rules/limits.ts';
import type { BranchUpdate, Report } from '../rules/messages.ts';
import type { BranchCopy } from './branch-copy.ts';
import type { BranchLimits } from './limits.ts';

/** How long a branch waits after a renewal without a lease before it tries another. */
const RETRY_MS = 3_000;
/** Home writes a row for the traffic that it is sent. */
const TRAFFIC_MS = 60_000;

/**
 * What a branch hears from home and tells it. The lease, the share of the rate limits and the others' usage are in memory
 * only: a restarted branch asks home first.
 */
export const openHomeLink = (
  { ctx, env, accountId, journal, alarm }: ObjectContext,
  region: Region,
  copy: BranchCopy,
  ledger: Ledger,
  limits: BranchLimits,
  admission: Pick<AdmissionControl, 'noteShare'>,
  relay: Pick<Relay, 'setWantsVerified' | 'hasEvents'>,
) => {
  const { facts } = copy;
  let lease: Lease | null = null;
  const recentCalls = openRecentCalls(Date.now(), () => alarmIntervalMs(lease));
  let { lastCallMs } = facts;
  let lastRenewalMs = -Infinity;
  /** When home was told of changed counters for the last time. The last report has all of them. */
  let countersSentMs = 0;
  let trafficSentMs = -Infinity;
  /** Whether a call was refused for its rate since the last renewal. Home may have a larger share. */
  let isShort = false;
  /** When the next alarm is due: an interval after the last one. A shorter lease brings it forward. */
  let dueMs: number | null = null;

  const isOpen = () => facts.state === 'open';

  const setShare = (changed: ShareOffer) => {
    limits.setShare(changed);
    admission.noteShare(Date.now());
  };

  const forget = (opening: number, state: 'closed' | 'open') => {
    lease = null;
    setShare(NO_SHARE);
    lastCallMs = Date.now();
    lastRenewalMs = -Infinity;
    journal.change(() => {
      copy.forget(opening, state, lastCallMs);
      limits.forget();
      ledger.clear();
    });
  };

  /** Writes everything that was counted first, so that a report says nothing that isn't on disk. */
  const report = (): Report => {
    journal.change(() => {});
    const { opening, applied } = facts;
    return {
      opening,
      applied,
      escrows: limits.escrows(),
      share: limits.share(),
      usedLately: recentCalls.count(Date.now()),
      ...(facts.state === 'closed' && { isClosed: true }),
    };
  };

  /** Stops answering, and gives everything back. Home has to be told next, see `close`. */
  const stop = () => {
    lease = null;
    journal.change(() => {
      copy.save({ state: 'closing' });
      limits.giveBack();
    });
  };

  /** Stops answering, gives everything back, and then tells home. Repeat it until home has answered. */
  const close = async () => {
    stop();
    const { opening } = facts;
    const last = {
      counters: ledger.changedSince(0, true),
      traffic: ledger.traffic.days(),
      hasEvents: relay.hasEvents(),
    };
    await gateOf(env, accountId).close(region, { ...report(), ...last });
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
    setShare(receiveShare(limits.share(), update.share));
    journal.change(() => {
      const isCurrent = copy.apply(update, lastCallMs);
      if (isCurrent && update.wantsVerified !== null) relay.setWantsVerified(update.wantsVerified);
      for (const { periodStartMs, others: calls } of update.grants) limits.noteOthers(periodStartMs, calls);
      limits.receive(update.grants);
      if (update.isRecall) limits.giveBack();
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
    isShort = false;
    const sendsTraffic = Math.abs(sentMs - trafficSentMs) >= TRAFFIC_MS;
    const sent = {
      ...report(),
      counters: ledger.changedSince(countersSentMs, false),
      ...(sendsTraffic && { traffic: ledger.traffic.days() }),
    };
    const answer = await gateOf(env, accountId).renew(region, sent);
    if (answer === null) return false;
    rememberEpoch(accountId, answer);
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
    return facts.applied > sent.applied || limits.shareOfRate() === 0;
  };

  /**
   * Renews the lease. A second renewal confirms changes, which wait for the branch, and a share of 0: home offers another one
   * only then.
   */
  const renewNow = coalesce(async () => {
    if (await renewOnce()) await renewOnce();
  });

  const logFailure = (error: unknown) => logError('branch_failed', error, { account_id: accountId, region });

  /** Renews the lease while no call waits for it. */
  const renewSoon = () => {
    const armAndRenew = async () => {
      // First, because only the alarm closes a branch.
      await alarm.arm();
      await renewNow();
      // The alarm may be set for longer leases.
      await alarm.arm();
    };
    ctx.waitUntil(armAndRenew().catch(logFailure));
  };

  /** Starts a renewal if the lease or the grant will end soon, or to get a share of the rate limits. */
  const renewIfDue = (nowMs: number) => {
    if (Math.abs(nowMs - lastRenewalMs) < RETRY_MS || !isOpen()) return;
    const isLow = () => isRunningLow(limits.unspent(nowMs), recentCalls.count(nowMs));
    if (isRenewalDue(lease, nowMs) || limits.shareOfRate() === 0 || isShort || isLow()) renewSoon();
  };

  alarm.add({
    failure: 'branch_failed',
    dueMs: (nowMs) => {
      if (facts.state === 'closed') return (dueMs = null);
      return (dueMs = Math.min(dueMs ?? Infinity, nowMs + alarmIntervalMs(lease)));
    },
    run: async (nowMs) => {
      dueMs = null;
      // The next alarm repeats what fails here.
      if (facts.state === 'closing' || (isOpen() && shouldClose(lastCallMs, nowMs)))
        await close().catch(logFailure);
      else if (isOpen() && endsBeforeAlarm(lease, nowMs)) await renewNow().catch(logFailure);
    },
  });

  return {
    report,
    logFailure,

    /** Without a share of the rate limits, a branch answers nothing. */
    mayAnswer: (nowMs: number) => isOpen() && mayAnswer(lease, nowMs) && limits.shareOfRate() > 0,

    /** A call keeps the branch open if it can answer calls like it. */
    noteCall: (nowMs: number) => {
      lastCallMs = nowMs;
    },

    /** Notes what is asked of the branch's part of the limits. */
    noteAsked: recentCalls.note,

    noteShort: () => {
      isShort = true;
    },

    renewIfDue,

    /** Merges what home tells. The report confirms it, once it is on disk. */
    tell: async (update: BranchUpdate): Promise<Report> => {
      hear(update);
      if (facts.state === 'closing') {
        // The alarm repeats what fails here.
        await alarm.arm();
        ctx.waitUntil(close().catch(logFailure));
      } else renewIfDue(Date.now());
      return report();
    },
  };
};

export type HomeLink = ReturnType<typeof openHomeLink>;
