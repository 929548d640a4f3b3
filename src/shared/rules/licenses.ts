import { addDays } from './dates.ts';

// A license's states, transitions and limits. The Worker enforces these rules, and the dashboard explains them.

/** Stored statuses. `expired` isn't stored, because it follows from `expires_at`. */
export const STORED_LICENSE_STATUSES = ['active', 'suspended', 'revoked'] as const;
export type StoredLicenseStatus = (typeof STORED_LICENSE_STATUSES)[number];

/** Statuses as the API shows them. */
export const LICENSE_STATES = ['active', 'expired', 'suspended', 'revoked'] as const;
export type LicenseStatus = (typeof LICENSE_STATES)[number];

/** What a list says of a license's seats: all are taken, or at least one is. */
export const SEAT_FILTERS = ['full', 'used'] as const;
export type SeatFilter = (typeof SEAT_FILTERS)[number];

/** Takes the place of an erased customer's email address. */
export const ERASED_EMAIL = 'erased@customer.invalid';

/** Stands for the address of a buyer that the store tells later. */
export const UNKNOWN_EMAIL = 'unknown@customer.invalid';

/** Addresses that stand for no one customer: licenses of many people have them. */
export const NOBODYS_EMAILS = [ERASED_EMAIL, UNKNOWN_EMAIL];
export const isNobodys = (email: string): boolean => NOBODYS_EMAILS.includes(email.toLowerCase());

export type Metadata = Record<string, string | number | boolean>;

/** Dates with a later year have another form. */
const LAST_DATE = '9999-12-31';

/** The last day of grace of a license that has some. */
export const graceUntil = (expiresAt: string | null, graceDays: number): string | null => {
  if (expiresAt === null || graceDays === 0) return null;
  const day = addDays(expiresAt, graceDays);
  return day.startsWith('+') ? LAST_DATE : day;
};

/** A license is valid through the end of its last day, UTC. */
export const licenseState = (
  license: { status: StoredLicenseStatus; expiresAt: string | null },
  today: string,
): LicenseStatus =>
  license.status === 'active' && license.expiresAt !== null && license.expiresAt < today
    ? 'expired'
    : license.status;

const TRANSITIONS = ['suspend', 'reinstate', 'revoke'] as const;
export type Transition = (typeof TRANSITIONS)[number];

const TRANSITION_RULES: Record<
  Transition,
  { from: readonly StoredLicenseStatus[]; to: StoredLicenseStatus }
> = {
  suspend: { from: ['active'], to: 'suspended' },
  reinstate: { from: ['suspended'], to: 'active' },
  revoke: { from: ['active', 'suspended'], to: 'revoked' },
};

/** Returns the status after a transition, or null if the license's status doesn't allow it. */
export const nextStatus = (
  status: StoredLicenseStatus,
  transition: Transition,
): StoredLicenseStatus | null => {
  const { from, to } = TRANSITION_RULES[transition];
  return from.includes(status) ? to : null;
};

const EXPIRY_CHANGES: Record<LicenseStatus, boolean> = {
  active: true,
  expired: true,
  suspended: true,
  revoked: false,
};
export const canChangeExpiry = (state: LicenseStatus): boolean => EXPIRY_CHANGES[state];

/** The reason of a transition. */
export const MAX_REASON_LENGTH = 200;
export const MAX_PRODUCT_LENGTH = 200;
export const MAX_METADATA_BYTES = 4_096;
/** The entry of the metadata that marks a license which the first steps make for the seller. */
export const SAMPLE = 'sample';
export const MAX_DURATION_DAYS = 36_500;
/** Changes of a license that its histories keep. In D1, a trigger has the same number. */
export const MAX_HISTORY_CHANGES = 200;

/** A search for at least so many characters finds them anywhere in a field. A shorter one finds beginnings of fields. */
export const MIN_SUBSTRING_LENGTH = 3;

/** A customer's licenses are counted up to this many, because each one counted is a row that a list of customers reads. */
export const MAX_COUNTED = 100;

// Limits for license keys that a seller chooses.
export const MIN_LICENSE_KEY_LENGTH = 8;
export const MAX_LICENSE_KEY_LENGTH = 128;
export const LICENSE_KEY_PATTERN = /^[A-Za-z0-9._-]+$/;
