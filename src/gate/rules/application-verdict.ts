import type { ApplicationRequest } from './calls.ts';
import type { EntitlementValue, Terms } from '../../shared/rules/terms.ts';
import { DEFAULT_OFFLINE_DAYS } from '../../shared/rules/terms.ts';
import type { SeatCode, Activation } from './seats.ts';
import type { Verdict } from './verdict.ts';
import type { CopiedLicense } from './rows.ts';

// What an application asks, and the answer. Home and its branches answer with the same functions.

export type ApplicationCode =
  | 'not_found'
  | 'revoked'
  | 'suspended'
  | 'expired'
  | 'wrong_product'
  | 'updates_ended'
  | SeatCode;

export interface ApplicationVerdict extends Verdict {
  code: ApplicationCode;
  /** As stored or, if there is no such license, as presented. */
  licenseKey: string;
  licenseId: string | null;
  product: string | null;
  entitlements: Record<string, EntitlementValue>;
  updatesUntil: string | null;
  offlineDays: number;
  activation:
    | (Pick<Activation, 'id' | 'name' | 'platform'> & { activatedAtMs: number; leaseUntilMs: number | null })
    | null;
  seats: { used: number; limit: number } | null;
  retryAtMs: number | null;
  machines: (Pick<Activation, 'id' | 'name' | 'platform'> & { lastSeenAtMs: number })[] | null;
}

export const isGood = (code: ApplicationCode) => code === 'valid';

/** Decides what doesn't depend on seats. */
export const judgeLicense = (
  license: CopiedLicense,
  { status }: Verdict,
  { product, releaseDate }: ApplicationRequest,
): ApplicationCode => {
  if (status !== 'active') return status;
  if (product !== undefined && product !== license.product) return 'wrong_product';
  const { updatesUntil } = license;
  return updatesUntil !== null && releaseDate !== undefined && releaseDate > updatesUntil
    ? 'updates_ended'
    : 'valid';
};

export const UNKNOWN = {
  code: 'not_found',
  licenseId: null,
  product: null,
  entitlements: {},
  updatesUntil: null,
  offlineDays: DEFAULT_OFFLINE_DAYS,
  activation: null,
  seats: null,
  retryAtMs: null,
  machines: null,
} as const satisfies Partial<ApplicationVerdict>;

/** What the judge of a call knows about its machine. */
export interface Judged {
  code: ApplicationCode;
  activation: Activation | null;
  seats: ApplicationVerdict['seats'];
}

/** Returns the verdict on a license, without what only a machine that gets no seat is told. */
export const toApplicationVerdict = (
  license: CopiedLicense,
  verdict: Verdict,
  terms: Terms,
  { code, activation, seats }: Judged,
): ApplicationVerdict => ({
  ...verdict,
  valid: isGood(code),
  code,
  licenseKey: license.licenseKey,
  licenseId: license.id,
  product: license.product,
  entitlements: terms.entitlements,
  updatesUntil: license.updatesUntil,
  offlineDays: terms.offlineDays,
  activation: activation && {
    id: activation.id,
    name: activation.name,
    platform: activation.platform,
    activatedAtMs: activation.seat.activatedAtMs,
    leaseUntilMs: activation.seat.leaseUntilMs,
  },
  seats,
  retryAtMs: null,
  machines: null,
});
