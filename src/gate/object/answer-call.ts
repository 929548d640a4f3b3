import { createLru } from '../../shared/memory/lru.ts';
import type { PlainVerdict, Verdict } from '../../shared/rules/verdict.ts';
import { licenseEvent } from '../../shared/text/events.ts';
import type { Call, Reply } from '../rules/calls.ts';
import type { CopiedLicense } from '../rules/rows.ts';
import { isCounted } from '../rules/seats.ts';
import { secondsUntil, type Usage, type UsageAt } from '../rules/usage.ts';
import type { AdmissionControl } from './admission.ts';
import type { Ledger } from './ledger.ts';
import type { Relay } from './outgoing.ts';

/** What answering needs of a copy, home's or a branch's. */
interface LicenseRows {
  findLicense: (licenseKey: string) => CopiedLicense | null;
  isProduct: (code: string) => boolean;
}

interface UsageLimit {
  at: UsageAt;
  /** Called with the usage that a counted call has reached. */
  note: (usage: Usage, nowMs: number) => void;
}

/** Judges a call, once it is clear that it may be answered. */
type Judge = (license: CopiedLicense | null) => PlainVerdict | Verdict;

/** The platform repeats a call for at most ten seconds. */
const REPLIES_IN_MEMORY = 5_000;

/** Answers the calls of applications: checks key, rate limit and usage limit, lets the license be judged, and counts the call. */
const openFirstAnswer =
  (
    copy: LicenseRows,
    ledger: Ledger,
    admission: Pick<AdmissionControl, 'admit'>,
    usage: UsageLimit,
    relay: Pick<Relay, 'addVerified'>,
  ) =>
  ({ presented, name, input, callId, canSign, wasCounted }: Call, judge: Judge, nowMs: number): Reply => {
    const admitted = admission.admit(presented, 'verify', nowMs);
    if (admitted.refused !== null) return admitted;
    const { rate } = admitted;
    const { apiUsage, apiLimit, remaining, period } = usage.at(nowMs);
    const counts = isCounted(name) && !wasCounted && !ledger.hasCounted(callId);
    if (counts && remaining < 1) {
      const retryAfterSeconds = secondsUntil(period.endMs, nowMs);
      return { refused: 'usage_limit_exceeded', rate, retryAfterSeconds };
    }
    const license = copy.findLicense(input.license_key);
    const verdict = judge(license);
    if ('code' in verdict && !canSign) return { refused: 'unavailable' };
    ledger.useKey(presented.keyId, nowMs);
    if (!counts) return { refused: null, rate, verdict, apiUsage, apiLimit };
    ledger.count('verify', period.startMs, nowMs, callId);
    if (license?.product && copy.isProduct(license.product))
      ledger.countProduct(license.product, period.startMs, nowMs);
    usage.note({ apiUsage: apiUsage + 1, apiLimit, period }, nowMs);
    if (name === 'verify' && license && verdict.valid) {
      ledger.noteValidVerify(nowMs);
      relay.addVerified(() => licenseEvent('license.verified', nowMs, license));
    }
    return { refused: null, rate, verdict, apiUsage: apiUsage + 1, apiLimit };
  };

/**
 * A repeated call about a machine gets the reply to the first call. Made again, it could undo what the machine has done
 * since. The exception is a reply with the machines that hold the seats: it is long, and the call changed nothing.
 */
export const openAnswerCall = (...parts: Parameters<typeof openFirstAnswer>) => {
  const replies = createLru<Reply>(REPLIES_IN_MEMORY);
  const answerFirst = openFirstAnswer(...parts);

  return (call: Call, judge: Judge, nowMs: number): Reply => {
    if (call.isPlain) return answerFirst(call, judge, nowMs);
    const first = replies.get(call.callId);
    if (first) return first;
    const reply = answerFirst(call, judge, nowMs);
    const hasMachines = reply.refused === null && 'code' in reply.verdict && reply.verdict.machines;
    if (reply.refused === null && !hasMachines) replies.set(call.callId, reply);
    return reply;
  };
};

export type AnswerCall = ReturnType<typeof openAnswerCall>;
