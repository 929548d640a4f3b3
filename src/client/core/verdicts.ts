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

const toDate = (value: unknown): Date | null => {
  const ms = Date.parse(String(value));
  return ms ? new Date(ms) : null;
};

/** A license is good through the end of its last day, UTC. */
export const lastMoment = (day: string | null | undefined): Date | null => toDate(`${day}T23:59:59.999Z`);

/** When the license ends, with its days of grace. */
export const lastMs = ({ grace_until, license_ends }: Claims): number =>
  Number(lastMoment(grace_until ?? license_ends) ?? Infinity);

const name = ({ id, name, platform }: JsonObject) => ({
  id: text(id) ?? '',
  name: text(name),
  platform: text(platform),
});

const readActivation = (value: unknown, claims: Claims): LicenseActivation | null => {
  const { act } = claims;
  if (act === null) return null;
  const body = isObject(value) && value['id'] === act ? value : { id: act };
  const leaseUntil = claims.lease_until ? new Date(claims.lease_until * 1_000) : toDate(body['lease_until']);
  return { ...name(body), activatedAt: toDate(body['activated_at']), leaseUntil };
};

const readDetails = (body: JsonObject, claims: Claims): Details => {
  const { seats, machines, retry_at: retryAt } = body;
  const activation = readActivation(body['activation'], claims);
  // An older service doesn't sign it.
  const leaseUntilMs =
    claims.lease_until === undefined ? activation?.leaseUntil?.getTime() : (claims.lease_until ?? 0) * 1_000;
  return {
    seats: isObject(seats) ? { used: Number(seats['used']), limit: Number(seats['limit']) } : null,
    activation,
    machines: Array.isArray(machines)
      ? machines
          .filter(isObject)
          .map((machine) => ({ ...name(machine), lastSeenAt: toDate(machine['last_seen_at']) }))
      : null,
    retryAtMs: toDate(retryAt)?.getTime() ?? null,
    leaseMs: leaseUntilMs ? leaseUntilMs - claims.iat * 1_000 : null,
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
