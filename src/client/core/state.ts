import type { LicenseCode, LicenseState } from './types.ts';
import { type KnownVerdict, lastMoment, toDate } from './verdicts.ts';

const freeze = (value: unknown): void => {
  if (typeof value !== 'object' || value === null) return;
  Object.values(value).forEach(freeze);
  Object.freeze(value);
};

/** The state with a verdict or without one. If a verdict has ended, `code` says why it isn't good. */
export const toState = (
  verdict: KnownVerdict | null,
  code: LicenseCode,
  more: Pick<LicenseState, 'problem' | 'machine'>,
): LicenseState => {
  const { claims, details, source = 'none', endMs } = verdict ?? ({} as Partial<KnownVerdict>);
  const valid = claims?.valid === true && code === 'valid';
  const state: LicenseState = {
    valid,
    code,
    status: claims?.status ?? null,
    source,
    entitlements: valid ? { ...claims.ent } : {},
    expiresAt: lastMoment(claims?.license_ends),
    updatesUntil: lastMoment(claims?.updates_until),
    seats: details?.seats ?? null,
    activation: details?.activation ?? null,
    machines: details?.machines ?? null,
    offlineUntil: toDate(claims?.valid && endMs),
    checkedAt: toDate(claims && claims.iat * 1_000),
    graceUntil: lastMoment(claims?.grace_until),
    ...more,
  };
  freeze(state);
  return state;
};

const TIMES = new Set(['offlineUntil', 'leaseUntil', 'checkedAt', 'problem']);
const withoutTimes = (name: string, value: unknown) => (TIMES.has(name) ? null : value);

const isSame = (a: LicenseState, b: LicenseState, replacer?: typeof withoutTimes): boolean =>
  JSON.stringify(a, replacer) === JSON.stringify(b, replacer);

type Listener = (state: LicenseState) => void;

/** The present state, and who is told about a change. */
export const openCurrent = (first: LicenseState) => {
  const listeners = new Set<Listener>();
  let state = first;
  return {
    get: (): LicenseState => state,

    /** A state that says the same stays the same object, and a verdict that was only renewed is no change. */
    set: (next: LicenseState): LicenseState => {
      if (isSame(next, state)) return state;
      const isRenewed = isSame(next, state, withoutTimes);
      state = next;
      if (isRenewed) return state;
      for (const listener of listeners) {
        try {
          listener(next);
        } catch (error) {
          console.error(error);
        }
      }
      return state;
    },

    listen: (listener: Listener) => {
      // Each call has its own entry, even with the same function.
      const entry: Listener = (next) => listener(next);
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
  };
};
