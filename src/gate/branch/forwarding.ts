import { gateOf, rememberEpoch } from '../../shared/objects/address.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import { within } from '../../shared/objects/within.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { openCallIds } from '../object/counters.ts';
import type { Ledger } from '../object/ledger.ts';
import type { Call, ReplyText } from '../rules/calls.ts';
import { type Forwarded, seatRef } from '../rules/messages.ts';
import type { BranchCopy } from './branch-copy.ts';
import type { HomeLink } from './home-link.ts';
import type { BranchLimits } from './limits.ts';

/** The Worker waits a little longer before it asks home itself. */
const FORWARD_MS = 2_000;

/** Lets home answer calls, and keeps the rows that come with the answers. */
export const openForwarding = (
  { ctx, env, accountId, journal }: ObjectContext,
  region: Region,
  copy: BranchCopy,
  ledger: Pick<Ledger, 'hasCounted'>,
  limits: BranchLimits,
  link: HomeLink,
) => {
  /** Calls that were forwarded. A repeat goes where the call went first. */
  const forwarded = openCallIds();
  /** The seats of machines that home is being told of. */
  const noting = new Set<string>();

  /** Returns home's answer, or null if home can't be reached. */
  const askHome = async (call: Call, wasCounted: boolean): Promise<Forwarded | null> => {
    const report = link.report();
    const forward = async () => {
      const reply = await gateOf(env, accountId).forward(region, { ...call, wasCounted }, report);
      rememberEpoch(accountId, reply);
      return reply;
    };
    const answer = await within(FORWARD_MS, forward()).catch((error: unknown) => {
      link.logFailure(error);
      return null;
    });
    if (!answer) return null;
    const { row, others } = answer;
    if (others) limits.noteOthers(others.periodStartMs, others.calls);
    if (row) journal.write(() => copy.keep(row, report.opening));
    return answer;
  };

  return {
    wasForwarded: forwarded.has,

    /** Whether the branch has counted a call, on its disk. Otherwise it leaves the call to home, also if it arrives later. */
    claim: (callId: string): boolean => {
      forwarded.add(callId);
      if (!ledger.hasCounted(callId)) return false;
      journal.change(() => {});
      return true;
    },

    /** Lets home answer a call that the branch can't answer. Returns null if home can't be reached. */
    forward: async (call: Call, nowMs: number): Promise<ReplyText | null> => {
      forwarded.add(call.callId);
      const answer = await askHome(call, ledger.hasCounted(call.callId));
      if (answer?.row?.known) link.noteCall(nowMs);
      return answer && answer.reply;
    },

    /**
     * Lets home note that a machine was seen, once an hour. The caller doesn't wait, because the branch has answered and counted
     * the call. If home can't be reached, the machine's next verify tries again.
     */
    noteSeen: (call: Call): void => {
      const name = seatRef(call.input.license_key, call.input.fingerprint ?? '');
      if (noting.has(name)) return;
      noting.add(name);
      ctx.waitUntil(askHome(call, true).finally(() => noting.delete(name)));
    },
  };
};
