import type { CopiedLicense } from '../../src/gate/rules/rows.ts';
import type { StoredLicenseStatus } from '../../src/shared/rules/licenses.ts';
import type { LicenseTerms, ProductTerms } from '../../src/shared/rules/terms.ts';

// What the conformance files and the double of the service agree on. All of it is published, also the signing keys.

export const ACCOUNT = 'acct_0VJ1mKq7XbT2c9LpQwZa';
export const OTHER_ACCOUNT = 'acct_0VJ1mKq7XbT2c9LpQwZb';
export const API_KEY = 'lk_live_publishedConformanceKey';
export const ORIGIN = 'https://latchkey.test';
export const START = '2026-11-22T12:00:00.000Z';
export const PRODUCT = 'orrery';
export const LICENSE_KEY = '7K3QD-9WZXA-M2RTB-H5NVE-40GPW';
export const LICENSE_ID = 'lic_0VJ1mKq7XbT2c9LpQwZa';
export const ACTIVATION_ID = 'act_0VJ1mKq7XbT2c9LpQwZa';
export const FINGERPRINT = 'machine-0123456789';
export const TERMS: ProductTerms = { max_activations: 3, entitlements: { export: true, seats: 5, tier: '' } };

/** Entries of SIGNING_KEYS, oldest first. Whoever trusts them trusts everybody. */
export const PUBLISHED_RING = [1, 2, 3].map((byte) => Buffer.alloc(32, byte).toString('base64'));

/** A license as the double of the service begins with it. Each field but the key has a default. */
export interface WorldLicense {
  license_key: string;
  product?: string | null;
  status?: StoredLicenseStatus;
  expires_at?: string | null;
  updates_until?: string | null;
  terms?: LicenseTerms;
}

/** What the double of the service begins with. */
export interface World {
  now?: string;
  licenses?: WorldLicense[];
  products?: Record<string, ProductTerms>;
}

export const copiedLicense = (license: WorldLicense, id: string): CopiedLicense => ({
  id,
  licenseKey: license.license_key,
  customerEmail: 'customer@example.com',
  status: license.status ?? 'active',
  expiresAt: license.expires_at ?? null,
  product: license.product === undefined ? PRODUCT : license.product,
  terms: license.terms ?? {},
  updatesUntil: license.updates_until ?? null,
});
