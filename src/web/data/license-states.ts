import type { LicenseState } from './queries.ts';

export type { LicenseState };

/** In the order in which they are shown. */
export const LICENSE_STATES: readonly LicenseState[] = ['active', 'expired', 'suspended', 'revoked'];
