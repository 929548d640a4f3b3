import { DAY_MS } from './dates.ts';
import type { Verdict, VerdictCode } from './verdict.ts';

/** What a token says: a verdict, from and for whom, and for how long. */
export interface Claims extends Pick<Verdict, 'valid' | 'status' | 'product' | 'updates_until'> {
  iss: string;
  aud: string;
  /** The license's id. It is left out if there is no license, because JWT libraries refuse a `sub` that is no string. */
  sub?: string;
  iat: number;
  exp: number;
  jti: string;
  /** An application gets an online token. A file is offline. */
  kind: 'online' | 'offline';
  code: Exclude<VerdictCode, 'verify_due'>;
  nonce: string | null;
  /** The id of the machine's activation. */
  act: string | null;
  /** The hash of the fingerprint. */
  fp: string | null;
  /** The beginning of the license key's hash. */
  lk: string;
  ent: Verdict['entitlements'];
  license_ends: Verdict['expires_at'];
  /** When the machine's lease ends, in seconds. An older token has none. */
  lease_until?: number | null;
  /** The last day of grace. It is left out if there is none beyond `license_ends`. */
  grace_until?: string;
}

/** How long a token is good that says no. */
export const NEGATIVE_TOKEN_MS = 600_000;

/** A license is good through the end of its last day, UTC. */
const endOfDayMs = (date: string) => Date.parse(`${date}T00:00:00.000Z`) + DAY_MS;

/** When a token ends that is issued now and says yes. */
export const tokenEndMs = (
  verdict: Pick<Verdict, 'offline_days' | 'expires_at' | 'grace_until' | 'activation'>,
  nowMs: number,
): number => {
  const { offline_days, expires_at, activation } = verdict;
  const lastDay = verdict.grace_until ?? expires_at;
  return Math.min(
    nowMs + offline_days * DAY_MS,
    lastDay === null ? Infinity : endOfDayMs(lastDay),
    activation?.lease_until ? Date.parse(activation.lease_until) : Infinity,
  );
};
