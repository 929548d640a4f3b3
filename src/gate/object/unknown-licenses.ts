import { networkOf } from '../../shared/rules/ip-addresses.ts';
import { UNKNOWN_LICENSES_PACE } from '../../shared/rules/paces.ts';
import type { RateState } from '../../shared/rules/rate.ts';
import { secondsUntil } from '../rules/usage.ts';

const { ofAddress: CALLS_OF_AN_ADDRESS, inAll: CALLS_IN_ALL, windowMs: WINDOW_MS } = UNKNOWN_LICENSES_PACE;

/**
 * Limits the calls for licenses that don't exist, which count nothing. Whoever guesses license keys with an account's API key
 * is slowed down by this, and the calls for its licenses aren't. It is kept in memory only.
 */
export const openUnknownLicenses = () => {
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
