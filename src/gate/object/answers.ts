import { licenseEvent } from '../../shared/text/events.ts';
import { createLru } from '../../shared/memory/lru.ts';
import { isoDate } from '../../shared/rules/dates.ts';
import type { AdmissionControl } from './admission.ts';
import type { Applications } from '../home/applications.ts';
import type { Copy } from '../home/copy.ts';
import type { Ledger } from './ledger.ts';
import { secondsUntil } from '../rules/usage.ts';
import type { Relay } from './outgoing.ts';
import type { VerifyReply } from '../rules/replies.ts';
import { isCounted } from '../rules/seats.ts';
import type { Call } from '../rules/calls.ts';
import { decideVerdict } from '../rules/verdict.ts';
import type { Usage, UsageAt } from '../rules/usage.ts';

interface Parts {
  copy: Pick<Copy, 'findLicense' | 'isProduct'>;
  ledger: Ledger;
  admission: Pick<AdmissionControl, 'admit'>;
  usageAt: UsageAt;
  /** Called with the usage that a counted call has reached. */
  noteUsage: (usage: Usage, nowMs: number) => void;
  applications: Pick<Applications, 'isPlain' | 'judge'>;
  relay: Pick<Relay, 'addVerified'>;
}

/** The platform repeats a call for at most ten seconds. */
const REPLIES_IN_MEMORY = 5_000;

/** Answers the calls of applications: checks key, rate limit and usage limit, judges the license, and counts the call. */
const openFirstAnswers =
  ({ copy, ledger, admission, usageAt, noteUsage, applications, relay }: Parts) =>
  (
    { presented, call, licenseKey, request, callId, canSign, wasCounted }: Call,
    nowMs: number,
  ): VerifyReply => {
    const admitted = admission.admit(presented, 'verify', nowMs);
    if (admitted.refused !== null) return admitted;
    const { rate } = admitted;
    const { apiUsage, apiLimit, remaining, period } = usageAt(nowMs);
    const counts = isCounted(call) && !wasCounted && !ledger.hasCounted(callId);
    if (counts && remaining < 1) {
      const retryAfterSeconds = secondsUntil(period.endMs, nowMs);
      return { refused: 'usage_limit_exceeded', rate, retryAfterSeconds };
    }
    const license = copy.findLicense(licenseKey);
    const isPlain = request === null && applications.isPlain(license);
    if (!isPlain && !canSign) return { refused: 'unavailable' };
    const verdict = isPlain
      ? decideVerdict(license, isoDate(nowMs))
      : applications.judge(call, license, request ?? { licenseKey }, nowMs);
    ledger.useKey(presented.keyId, nowMs);
    if (!counts) return { refused: null, rate, verdict, apiUsage, apiLimit };
    ledger.count('verify', period.startMs, nowMs, callId);
    if (license?.product && copy.isProduct(license.product))
      ledger.countProduct(license.product, period.startMs, nowMs);
    noteUsage({ apiUsage: apiUsage + 1, apiLimit, period }, nowMs);
    if (call === 'verify' && license && verdict.valid) {
      ledger.noteValidVerify(nowMs);
      relay.addVerified(() => licenseEvent('license.verified', nowMs, license));
    }
    return { refused: null, rate, verdict, apiUsage: apiUsage + 1, apiLimit };
  };

/**
 * A repeated call about a machine gets the answer of the first call. Made again, it could undo what the machine has done
 * since. The exception is an answer with the machines that hold the seats: it is long, and the call changed nothing.
 */
export const openAnswers = (parts: Parts) => {
  const replies = createLru<VerifyReply>(REPLIES_IN_MEMORY);
  const answer = openFirstAnswers(parts);

  return (call: Call, nowMs: number): VerifyReply => {
    const { request, callId } = call;
    if (request === null) return answer(call, nowMs);
    const first = replies.get(callId);
    if (first) return first;
    const reply = answer(call, nowMs);
    const hasMachines = reply.refused === null && 'machines' in reply.verdict && reply.verdict.machines;
    if (reply.refused === null && !hasMachines) replies.set(callId, reply);
    return reply;
  };
};
