import { laterDate } from '../../shared/rules/dates.ts';
import type { StoredLicenseStatus } from '../../shared/rules/licenses.ts';
import type { SoldOffer, WantedLicense } from '../../shared/rules/sold-offer.ts';
import type { LicenseTerms } from '../../shared/rules/terms.ts';

// What a purchase changes of a license that exists. What the seller has changed by hand since stays: the purchase only makes its
// own changes, and takes only its own back.

/** What the purchase has done to the license so far. */
export interface Held {
  wanted: WantedLicense;
  /** What the license was made by, or has followed since. */
  offer: Pick<SoldOffer, 'terms'>;
  setStatus: StoredLicenseStatus | null;
  returnsTo: StoredLicenseStatus | null;
}

/** The license as it is now. */
interface Current {
  status: StoredLicenseStatus;
  product: string | null;
  expiresAt: string | null;
  terms: LicenseTerms;
}

export interface HeldChange {
  fields: Partial<Current>;
  setStatus: StoredLicenseStatus | null;
  returnsTo: StoredLicenseStatus | null;
}

const SEVERITY = { active: 0, suspended: 1, revoked: 2 } as const;

/** The status that the purchase last set is its own, unless somebody has set one since, which clears `setStatus`. */
const statusChange = (
  { setStatus, returnsTo, wanted: before }: Held,
  now: StoredLicenseStatus,
  wanted: StoredLicenseStatus,
): Omit<HeldChange, 'fields'> & { status: StoredLicenseStatus } => {
  const kept = { status: now, setStatus, returnsTo };
  if (wanted === before.status) return kept;
  const isOwn = setStatus === now;
  if (wanted === 'active')
    return isOwn ? { status: returnsTo ?? 'active', setStatus: null, returnsTo: null } : kept;
  if (isOwn) return { status: wanted, setStatus: wanted, returnsTo };
  if (SEVERITY[now] >= SEVERITY[wanted]) return kept;
  return { status: wanted, setStatus: wanted, returnsTo: now };
};

/** A seller who has prolonged a license by hand keeps that, and a payment for longer prolongs it further. */
const expiryAfter = (before: WantedLicense, now: string | null, wanted: string | null): string | null => {
  if (before.expiresAt === wanted || now === wanted) return now;
  if (now === before.expiresAt || wanted === null) return wanted;
  return now === null ? null : laterDate(now, wanted);
};

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Replaces what has changed of the purchase, but for the entries that somebody has changed in the license. */
const follow = <T extends object>(before: T, now: T, wanted: T): T => {
  const ofBefore = new Map(Object.entries(before));
  const ofWanted = new Map(Object.entries(wanted));
  const entries = new Map(Object.entries(now));
  for (const name of new Set([...ofBefore.keys(), ...ofWanted.keys()])) {
    const [earlier, later] = [ofBefore.get(name), ofWanted.get(name)];
    if (same(earlier, later) || !same(earlier, entries.get(name))) continue;
    if (later === undefined) entries.delete(name);
    else entries.set(name, later);
  }
  return Object.fromEntries(entries) as T;
};

/** The terms of a new license. */
export const newTerms = (terms: LicenseTerms, { graceDays, seats }: WantedLicense): LicenseTerms => ({
  ...terms,
  ...(graceDays !== null && { grace_days: graceDays }),
  ...(seats !== null && { max_activations: seats }),
});

const termsAfter = (
  { wanted: before, offer }: Held,
  now: LicenseTerms,
  wanted: WantedLicense,
  offered: LicenseTerms,
): LicenseTerms => {
  const { entitlements: hadBefore = {}, ...ofBefore } = newTerms(offer.terms, before);
  const { entitlements: getsNow = {}, ...ofWanted } = newTerms(offered, wanted);
  const terms = follow<LicenseTerms>(ofBefore, now, ofWanted);
  const entitlements = follow(hadBefore, now.entitlements ?? {}, getsNow);
  if (!same(entitlements, now.entitlements ?? {})) terms.entitlements = entitlements;
  // These are what was paid, whatever somebody has set since.
  if (before.graceDays !== wanted.graceDays && wanted.graceDays !== null) terms.grace_days = wanted.graceDays;
  if (before.seats !== wanted.seats && wanted.seats !== null) terms.max_activations = wanted.seats;
  return terms;
};

/** Returns what changes, and what the purchase has done to the license then. `offered` are the offer's terms. */
export const changeLicense = (
  held: Held,
  now: Current,
  wanted: WantedLicense,
  offered: LicenseTerms,
): HeldChange => {
  const { status, setStatus, returnsTo } = statusChange(held, now.status, wanted.status);
  const after: Current = {
    status,
    product: held.wanted.product === wanted.product ? now.product : wanted.product,
    expiresAt: expiryAfter(held.wanted, now.expiresAt, wanted.expiresAt),
    terms: termsAfter(held, now.terms, wanted, offered),
  };
  const changed = Object.entries(after).filter(([name, value]) => !same(value, now[name as keyof Current]));
  return { fields: Object.fromEntries(changed), setStatus, returnsTo };
};
