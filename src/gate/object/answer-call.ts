import { networkOf } from '../../shared/rules/ip-addresses.ts';
import { UNKNOWN_LICENSES_PACE } from '../../shared/rules/paces.ts';
import type { RateState } from '../../shared/rules/rate.ts';
import type { PlainVerdict, Verdict } from '../../shared/rules/verdict.ts';
import { licenseEvent } from '../../shared/text/events.ts';
import type { Call, Reply } from '../rules/calls.ts';
import type { CopiedLicense } from '../rules/rows.ts';
import { isCounted } from '../rules/seats.ts';
import { marginOf, secondsUntil, type Usage, type UsageAt } from '../rules/usage.ts';
import type { Ledger } from './ledger.ts';
import type { Relay } from './outgoing.ts';

const { ofAddress: CALLS_OF_AN_ADDRESS, inAll: CALLS_IN_ALL, windowMs: WINDOW_MS } = UNKNOWN_LICENSES_PACE;

/**
 * Limits the calls for licenses that don't exist, which count nothing. Whoever guesses license keys with an account's API key
 * is slowed down by this, and the calls for its licenses aren't. It is kept in memory only.
 */
const openUnknownLicenses = () => {
  let window = { startMs: -Infinity, calls: 0, byAddress: new Map<string, number>() };

  /** Spends a call. Returns null if it may be answered, and otherwise the limit that it has reached. */
  return (ip: string | null, nowMs: number): { rate: RateState; retryAfterSeconds: number } | null => {
    // A window that begins in the future means that the clock was set back.
    if (nowMs < window.startMs || nowMs >= window.startMs + WINDOW_MS)
      window = { startMs: nowMs, calls: 0, byAddress: new Map() };
    const address = networkOf(ip ?? '');
    const ofAddress = window.byAddress.get(address) ?? 0;
    if (ofAddress < CALLS_OF_AN_ADDRESS && window.calls < CALLS_IN_ALL) {
      window.calls++;
      window.byAddress.set(address, ofAddress + 1);
      return null;
    }
    const retryAfterSeconds = secondsUntil(window.startMs + WINDOW_MS, nowMs);
    const isAddress = ofAddress >= CALLS_OF_AN_ADDRESS;
    return {
      retryAfterSeconds,
      rate: {
        policy: 'unknown-licenses',
        quota: isAddress ? CALLS_OF_AN_ADDRESS : CALLS_IN_ALL,
        windowSeconds: WINDOW_MS / 1_000,
        remaining: 0,
        resetSeconds: retryAfterSeconds,
      },
    };
  };
};

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

type UsageNow = ReturnType<UsageAt>;

/** A call, as far as it is about seats. */
interface SeatsOfCall {
  /** Judges a call, once it is clear that it may be answered. Null if it adds a machine for which there is no room. */
  verdictOn: (license: CopiedLicense | null) => PlainVerdict | Verdict | null;
  /** Whether the call's machine holds a seat, or held one lately. */
  isCustomer: (license: CopiedLicense | null) => boolean;
}

/** Answers the admitted calls of applications: checks the usage limit, lets the license be judged, and counts the call. */
export const openAnswerCall = (
  copy: LicenseRows,
  ledger: Ledger,
  usage: UsageLimit,
  relay: Pick<Relay, 'addVerified'>,
) => {
  const paceUnknown = openUnknownLicenses();

  /** Beyond the usage limit, whoever was a customer before stays one, up to a margin. */
  const mayCount = (
    license: CopiedLicense | null,
    { isCustomer }: SeatsOfCall,
    { remaining, apiLimit }: UsageNow,
  ) => remaining >= 1 || (remaining + marginOf(apiLimit) >= 1 && isCustomer(license));

  const count = (
    license: CopiedLicense,
    { name, callId }: Call,
    isValid: boolean,
    now: UsageNow,
    nowMs: number,
  ) => {
    const { apiUsage, apiLimit, period } = now;
    ledger.count('verify', period.startMs, nowMs, callId);
    if (license.product && copy.isProduct(license.product))
      ledger.countProduct(license.product, period.startMs, nowMs);
    usage.note({ apiUsage: apiUsage + 1, apiLimit, period }, nowMs);
    if (!isValid) return;
    ledger.noteValidVerify(nowMs);
    if (name !== 'verify') return;
    relay.addVerified(() => licenseEvent('license.verified', nowMs, license));
  };

  /** `rate` is that of the call's key after the call. */
  return (call: Call, rate: RateState, seats: SeatsOfCall, nowMs: number): Reply => {
    const { presented, name, input, callId, canSign, wasCounted } = call;
    const now = usage.at(nowMs);
    const { apiUsage, apiLimit, period } = now;
    const license = copy.findLicense(input.license_key);
    const isCharged = isCounted(name) && !wasCounted && !ledger.hasCounted(callId);
    if (isCharged && !mayCount(license, seats, now)) {
      const retryAfterSeconds = secondsUntil(period.endMs, nowMs);
      return { refused: 'usage_limit_exceeded', rate, retryAfterSeconds };
    }
    const refused = license ? null : paceUnknown(presented.ip, nowMs);
    if (refused) return { refused: 'rate_limit_exceeded', ...refused };
    const verdict = seats.verdictOn(license);
    if (!verdict) return { refused: 'storage_limit_reached', rate };
    if ('code' in verdict && !canSign) return { refused: 'unavailable' };
    ledger.useKey(presented.keyId, nowMs);
    if (!isCharged || !license) return { refused: null, rate, verdict, apiUsage, apiLimit };
    count(license, call, verdict.valid, now, nowMs);
    return { refused: null, rate, verdict, apiUsage: apiUsage + 1, apiLimit };
  };
};

export type AnswerCall = ReturnType<typeof openAnswerCall>;
