import type { LicenseStatus, SeatFilter } from '../../shared/rules/licenses.ts';

export const EXPIRIES = ['next-7-days', 'next-30-days', 'last-30-days', 'never'] as const;
export type Expiry = (typeof EXPIRIES)[number];

/** Newest first is the default, which the URL leaves out. */
export const LICENSE_SORTS = [
  'created_at',
  'expires_at',
  '-expires_at',
  'customer_email',
  '-customer_email',
] as const;
export type LicenseSort = (typeof LICENSE_SORTS)[number];

/** What a list of licenses is narrowed down by. */
export interface LicenseFilter {
  q?: string | undefined;
  status?: LicenseStatus | undefined;
  product?: string | undefined;
  customer?: string | undefined;
  expiry?: Expiry | undefined;
  seats?: SeatFilter | undefined;
  machine?: string | undefined;
  sort?: LicenseSort | undefined;
}
