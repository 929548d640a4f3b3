import type { Claims } from '../../shared/rules/tokens.ts';
import { isObject, type JsonObject, text } from './bytes.ts';
import type { LicenseActivation, LicenseCode, LicenseMachine, LicenseState } from './types.ts';

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

export interface KnownVerdict {
  claims: Claims;
  source: 'network' | 'stored';
  details: Details;
  /** When the verdict ends. */
  endMs: number;
}

const date = (value: unknown): Date | null => {
  const ms = Date.parse(String(value));
  return ms ? new Date(ms) : null;
};

/** A license is good through the end of its last day, UTC. */
const lastMoment = (day: string | null | undefined): Date | null => date(`${day}T23:59:59.999Z`);

const name = ({ id, name, platform }: JsonObject) => ({
  id: text(id) ?? '',
  name: text(name),
  platform: text(platform),
});

const readActivation = (value: unknown, { act }: Claims): LicenseActivation | null => {
  if (act === null) return null;
  const body = isObject(value) && value['id'] === act ? value : { id: act };
  return { ...name(body), activatedAt: date(body['activated_at']), leaseUntil: date(body['lease_until']) };
};

const readDetails = (body: JsonObject, claims: Claims): Details => {
  const { seats, machines, retry_at: retryAt } = body;
  const activation = readActivation(body['activation'], claims);
  const leaseUntilMs = activation?.leaseUntil?.getTime();
  return {
    seats: isObject(seats) ? { used: Number(seats['used']), limit: Number(seats['limit']) } : null,
    activation,
    machines: Array.isArray(machines)
      ? machines
          .filter(isObject)
          .map((machine) => ({ ...name(machine), lastSeenAt: date(machine['last_seen_at']) }))
      : null,
    retryAtMs: date(retryAt)?.getTime() ?? null,
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
  const endMs =
    claims.exp > claims.iat
      ? claims.exp * 1_000
      : Math.min(holdMs, +(lastMoment(claims.license_ends) ?? holdMs));
  return { claims, source: 'network', details, endMs };
};

const freeze = (value: unknown): void => {
  if (typeof value !== 'object' || value === null) return;
  Object.values(value).forEach(freeze);
  Object.freeze(value);
};

/** The state with a verdict or without one. If a verdict has ended, `code` says why it isn't good. */
export const toState = (
  verdict: KnownVerdict | null,
  code: LicenseCode = verdict?.claims.code ?? 'inconclusive',
) => {
  const { claims, details, source = 'none', endMs = 0 } = verdict ?? ({} as Partial<KnownVerdict>);
  const state: LicenseState = {
    valid: claims?.valid === true && code === 'valid',
    code,
    status: claims?.status ?? null,
    source,
    entitlements: { ...claims?.ent },
    expiresAt: lastMoment(claims?.license_ends),
    updatesUntil: lastMoment(claims?.updates_until),
    seats: details?.seats ?? null,
    activation: details?.activation ?? null,
    machines: details?.machines ?? null,
    offlineUntil: claims?.valid ? new Date(endMs) : null,
    checkedAt: claims ? new Date(claims.iat * 1_000) : null,
  };
  freeze(state);
  return state;
};

const TIMES = new Set(['offlineUntil', 'leaseUntil', 'checkedAt']);
const withoutTimes = (name: string, value: unknown) => (TIMES.has(name) ? null : value);

export const isSame = (a: LicenseState, b: LicenseState, replacer?: typeof withoutTimes): boolean =>
  JSON.stringify(a, replacer) === JSON.stringify(b, replacer);

/** A renewed verdict is not a change. */
export const isSameVerdict = (a: LicenseState, b: LicenseState): boolean => isSame(a, b, withoutTimes);
