import type { Claims } from '../../shared/rules/tokens.ts';
import { isObject, type JsonObject, text } from './bytes.ts';
import type { LicenseActivation, LicenseMachine, LicenseState } from './types.ts';

const DAY_MS = 86_400_000;
/** Until when the next refresh has certainly been tried. */
const HOLD_MS = 1.25 * DAY_MS;

/** What an answer says besides its token. It isn't signed, so no verdict depends on it. */
export interface Details {
  seats: LicenseState['seats'];
  activation: LicenseActivation | null;
  machines: readonly LicenseMachine[] | null;
  retryAtMs: number | null;
  /** How long the machine holds its seat without another call, from the answer on. */
  leaseMs: number | null;
}

/** What a signed answer, a stored token, or an offline file says. */
export interface KnownVerdict {
  claims: Claims;
  source: 'network' | 'stored';
  details: Details;
  /** When the verdict ends. */
  endMs: number;
}

/** What isn't signed may be any value, and converting some objects to a number throws. */
const plain = (value: unknown): unknown => (typeof value === 'object' ? NaN : value);

/** Reads a time of JSON or in milliseconds. */
export const toDate = (value: unknown): Date | null => {
  const date = new Date(plain(value) as string);
  return Number(date) ? date : null;
};

/** A license is good through the end of its last day, UTC. */
export const lastMoment = (day: string | null | undefined): Date | null => toDate(`${day}T23:59:59.999Z`);

/** When the license ends, with its days of grace. */
export const lastMs = ({ grace_until, license_ends }: Partial<Claims>): number =>
  Number(lastMoment(grace_until ?? license_ends) ?? Infinity);

const name = ({ id, name, platform }: JsonObject) => ({
  id: text(id) ?? '',
  name: text(name),
  platform: text(platform),
});

const readActivation = (value: unknown, claims: Claims): LicenseActivation | null => {
  const { act, lease_until: signed } = claims;
  if (act === null) return null;
  const body = isObject(value) && value['id'] === act ? value : { id: act };
  // An older service doesn't sign the lease.
  const leaseUntil = toDate(signed === undefined ? body['lease_until'] : signed && signed * 1_000);
  return { ...name(body), activatedAt: toDate(body['activated_at']), leaseUntil };
};

const readDetails = (body: JsonObject, claims: Claims): Details => {
  const { seats, machines } = body;
  const activation = readActivation(body['activation'], claims);
  const leaseUntil = activation?.leaseUntil;
  return {
    seats: isObject(seats)
      ? { used: Number(plain(seats['used'])), limit: Number(plain(seats['limit'])) }
      : null,
    activation,
    machines: Array.isArray(machines)
      ? machines
          .filter(isObject)
          .map((machine) => ({ ...name(machine), lastSeenAt: toDate(machine['last_seen_at']) }))
      : null,
    retryAtMs: Number(toDate(body['retry_at'])) || null,
    leaseMs: leaseUntil ? Number(leaseUntil) - claims.iat * 1_000 : null,
  };
};

/** The verdict of a token that was stored. */
export const storedVerdict = (claims: Claims): KnownVerdict => ({
  claims,
  source: 'stored',
  details: readDetails({}, claims),
  endMs: claims.exp * 1_000,
});

/** A verdict that has just arrived. With `offline_days: 0` its token has ended already, so it is good until the next one. */
export const freshVerdict = (body: JsonObject, claims: Claims): KnownVerdict => {
  const details = readDetails(body, claims);
  const holdMs = claims.iat * 1_000 + Math.min(details.leaseMs ?? HOLD_MS, HOLD_MS);
  const endMs = claims.exp > claims.iat ? claims.exp * 1_000 : Math.min(holdMs, lastMs(claims));
  return { claims, source: 'network', details, endMs };
};
