import type { StoredLicenseStatus } from '../db/schema.ts';

export const LICENSE_STATES = ['active', 'expired', 'suspended', 'revoked'] as const;
export type LicenseState = (typeof LICENSE_STATES)[number];

export interface Verdict {
  valid: boolean;
  status: LicenseState | 'not_found';
  expiresAt: string | null;
}

/** A license is good through the end of its last day, UTC. */
export const licenseState = (
  license: { status: StoredLicenseStatus; expiresAt: string | null },
  today: string,
): LicenseState =>
  license.status === 'active' && license.expiresAt !== null && license.expiresAt < today
    ? 'expired'
    : license.status;

export const decideVerdict = (
  license: { status: StoredLicenseStatus; expiresAt: string | null } | null,
  today: string,
): Verdict => {
  if (!license) return { valid: false, status: 'not_found', expiresAt: null };
  const status = licenseState(license, today);
  return { valid: status === 'active', status, expiresAt: license.expiresAt };
};
