import { DAY_MS } from './dates.ts';
import type { Verdict, VerdictCode } from './verdict.ts';

/** What a token says: a verdict, from and for whom, and for how long. */
export interface Claims extends Pick<Verdict, 'valid' | 'status' | 'product' | 'updates_until'> {
  iss: string;
  aud: string;
  sub: Verdict['license_id'];
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
}

/** How long a token is good that says no. */
export const NEGATIVE_TOKEN_MS = 600_000;

/** A license is good through the end of its last day, UTC. */
const endOfDayMs = (date: string) => Date.parse(`${date}T00:00:00.000Z`) + DAY_MS;

/** When a token ends that is issued now and says yes. */
export const tokenEndMs = (
  { offline_days, expires_at, activation }: Pick<Verdict, 'offline_days' | 'expires_at' | 'activation'>,
  nowMs: number,
): number =>
  Math.min(
    nowMs + offline_days * DAY_MS,
    expires_at === null ? Infinity : endOfDayMs(expires_at),
    activation?.lease_until ? Date.parse(activation.lease_until) : Infinity,
  );
