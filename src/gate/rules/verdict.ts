import { type LicenseState, licenseState, type StoredLicenseStatus } from '../../shared/rules/licenses.ts';

export interface Verdict {
  valid: boolean;
  status: LicenseState | 'not_found';
  expiresAt: string | null;
}

export const decideVerdict = (
  license: { status: StoredLicenseStatus; expiresAt: string | null } | null,
  today: string,
): Verdict => {
  if (!license) return { valid: false, status: 'not_found', expiresAt: null };
  const status = licenseState(license, today);
  return { valid: status === 'active', status, expiresAt: license.expiresAt };
};
