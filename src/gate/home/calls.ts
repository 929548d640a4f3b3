import { branchOf } from '../../shared/objects/address.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import { within } from '../../shared/objects/within.ts';
import type { PresentedKey, KeyScope } from '../../shared/rules/api-keys.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { logError } from '../../shared/text/log.ts';
import type { AdmissionControl } from '../object/admission.ts';
import type { AnswerCall } from '../object/answer-call.ts';
import { openCallIds } from '../object/counters.ts';
import {
  type Admission,
  type Call,
  type MovedTo,
  type Reply,
  type ReplyText,
  writeReply,
} from '../rules/calls.ts';
import { type Forwarded, isAnswerableInBranch, type Report } from '../rules/messages.ts';
import type { CopiedLicense } from '../rules/rows.ts';
import { isCounted } from '../rules/seats.ts';
import type { Wait } from '../rules/traffic.ts';
import type { HomeBranches } from './branches.ts';
import type { CatchUp } from './catch-up.ts';
import { openSessionRate } from './paces.ts';
import type { Seats } from './seats.ts';
import type { HomeStore } from './store.ts';
import type { HomeUsage } from './usage.ts';

/**
 * Whether a call may move a seat. Its answer waits for the branches, even if an earlier call has moved the seat: a seat must
 * not be free, or another machine's, while a branch treats it as held.
 */
const isSeatMove = ({ name }: Call) => name === 'activate' || name === 'deactivate';

/** Whether a repeat must leave the seat alone, because the machine may have moved it since. One that found no seat may take one. */
const hasMovedSeat = (call: Call, reply: Reply) =>
  isSeatMove(call) && reply.refused === null && (reply.verdict.valid || call.name === 'deactivate');

/** The Worker has waited for the branch already. */
const CLAIM_MS = 1_000;

/** Answers calls with an API key, once everything that they have counted is on disk. */
export const openCalls = (
  { env, accountId, journal }: ObjectContext,
  { copy, ledger }: HomeStore,
  admission: AdmissionControl,
  seats: Pick<Seats, 'verdictOn' | 'isCustomer' | 'knownTo'>,
  answerCall: AnswerCall,
  usage: HomeUsage,
  branches: HomeBranches,
  { ensureKnown }: CatchUp,
  /** What replies say of where the account's gate is. Empty if it has never moved. */
  movedTo: MovedTo,
) => {
  const spendSessionRate = openSessionRate(movedTo);

  /** The ids of calls that have moved a seat. Their replies would take twenty times the memory. */
  const seatMoves = openCallIds();

  const noteTraffic = (region: Region, lastWait: Wait | null, reply: Reply, nowMs: number) => {
    if (lastWait) ledger.traffic.noteWait(region, lastWait, nowMs);
    const homeRegion = copy.account()?.homeRegion ?? null;
    if (reply.refused === null) ledger.traffic.count(region, homeRegion, nowMs);
  };

  const answer = async (call: Call, region: Region | null, lastWait: Wait | null): Promise<Reply> => {
    const { presented, input } = call;
    // A refused call asks neither D1 for its license nor branches for their grants.
    const isKeyKnown = copy.account() && copy.key(presented.keyId);
    if (!isKeyKnown && !(await ensureKnown(presented, input.license_key))) return { refused: 'unavailable' };
    const admitted = admission.admit(presented, 'verify', Date.now());
    if (admitted.refused !== null) return admitted;
    // Usually there is nothing to wait for: the copy is complete, and no branch is open.
    if (isCounted(call.name) && branches.isAnyOpen()) await branches.recallIfSpent();
    if (!copy.progress().complete && !(await ensureKnown(null, input.license_key)))
      return { refused: 'unavailable' };
    const nowMs = Date.now();
    const revision = branches.revision();
    const seatsOfCall = {
      verdictOn: (license: CopiedLicense | null) =>
        seats.verdictOn(call, license, nowMs, seatMoves.has(call.callId)),
      isCustomer: (license: CopiedLicense | null) => seats.isCustomer(call, license, nowMs),
    };
    const reply = answerCall(call, admitted.rate, seatsOfCall, nowMs);
    if (hasMovedSeat(call, reply)) seatMoves.add(call.callId);
    const awaitsBranches = branches.isAnyOpen() && (isSeatMove(call) || branches.revision() !== revision);
    // A branch that has counted the call has also noted its route.
    if (region !== null && !call.wasCounted) noteTraffic(region, lastWait, reply, nowMs);
    await journal.commit();
    if (awaitsBranches) await branches.acknowledged();
    return reply;
  };

  /**
   * Whether a branch has counted a call that it has not answered in time. Otherwise it counts it no more. A branch that can't be
   * reached may have counted it, and the call counts twice then: never past the limit, because the branch counts its grant.
   */
  const claim = async (region: Region, callId: string): Promise<boolean> => {
    if (!branches.isOpen(region) || ledger.hasCounted(callId)) return false;
    try {
      return await within(CLAIM_MS, branchOf(env, accountId, region).claim(callId));
    } catch (error) {
      logError('claim_failed', error, { account_id: accountId, region });
      return false;
    }
  };

  const write = (reply: Reply, region: Region | null) => {
    if (region === null) return writeReply(reply, movedTo);
    const isOpen = branches.isLeased(region, Date.now());
    return writeReply(reply, {
      region: copy.account()?.homeRegion,
      ...(isOpen && { branch: region }),
      ...movedTo,
    });
  };

  /** Notes what is asked of home's share of the rate limits. A call that is refused for it asks for more. */
  const noteRate = ({ refused }: Admission, nowMs: number) => {
    if (refused === null || refused === 'rate_limit_exceeded') branches.countAtHome(nowMs);
    if (refused === 'rate_limit_exceeded') branches.recallShares(nowMs);
  };

  /** Every call spends home's share of the rate limits, but only calls that a branch could answer are a reason to open one. */
  const noteCall = (region: Region | null, { name, input }: Call, reply: Reply) => {
    noteRate(reply, Date.now());
    if (reply.refused !== null) return;
    if (region === null || name !== 'verify') return;
    const { verdict } = reply;
    if (verdict.status === 'not_found') return;
    if (!('code' in verdict) || isAnswerableInBranch(verdict, input.fingerprint))
      branches.noteCall(region, Date.now());
  };

  /** The rows of a call from a branch that the branch may keep. It has no other spellings of license keys. */
  const rowOf = ({ presented, input }: Call): Forwarded['row'] => {
    const key = copy.key(presented.keyId);
    if (!copy.progress().complete || !key) return null;
    const license = copy.license(input.license_key);
    return {
      asOf: branches.revision(),
      key: { ...key, id: presented.keyId },
      isProduct: !!license?.product && copy.isProduct(license.product),
      known: license && seats.knownTo(license, input.fingerprint, Date.now()),
    };
  };

  return {
    /** Checks key, scope and rate limit. The usage limit applies to licensing calls only, see `announce`. */
    admit: async (presented: PresentedKey, needs: KeyScope): Promise<Admission & MovedTo> => {
      if (!(await ensureKnown(presented, null))) return { refused: 'unavailable' };
      const nowMs = Date.now();
      const admitted = admission.admit(presented, needs, nowMs);
      if (admitted.refused === null) {
        ledger.useKey(presented.keyId, nowMs);
        await journal.commit();
      }
      noteRate(admitted, nowMs);
      return { ...admitted, ...movedTo };
    },

    /** Decides whether a session may make another call. While its account is suspended, it may only read. */
    admitSession: async (isChange: boolean): Promise<Admission & MovedTo> => {
      const admitted = spendSessionRate(Date.now());
      if (admitted.refused !== null) return admitted;
      if (!(await ensureKnown(null, null))) return { refused: 'unavailable' };
      const account = copy.account();
      // The commit that requests the erasure signs everybody out. Only signing in again keeps the account.
      if (account?.eraseAt) return { refused: 'invalid_session' };
      return isChange && account?.suspendedAt
        ? { refused: 'account_suspended', rate: admitted.rate, ...movedTo }
        : admitted;
    },

    /** Answers an application's call. `region` is the caller's, `isUncertain` whether its branch may have counted the call. */
    answer: async (
      asked: Call,
      region: Region | null,
      lastWait: Wait | null,
      isUncertain: boolean,
    ): Promise<ReplyText> => {
      const wasCounted = isUncertain && region !== null && (await claim(region, asked.callId));
      const call = { ...asked, wasCounted };
      const reply = await answer(call, region, lastWait);
      noteCall(region, call, reply);
      return write(reply, region);
    },

    /** Answers a call that a branch can't answer. */
    forward: async (region: Region, call: Call, report: Report): Promise<Forwarded> => {
      branches.hear(region, report);
      // The branch has noted how long the Worker has waited.
      const reply = await answer(call, region, null);
      noteCall(region, call, reply);
      const isKept = reply.refused === null && branches.isOpening(region, report.opening);
      return {
        reply: write(reply, region),
        row: isKept ? rowOf(call) : null,
        others: isKept ? usage.othersThan(region, Date.now()) : null,
        ...movedTo,
      };
    },
  };
};
