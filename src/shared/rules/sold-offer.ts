import type { StoredLicenseStatus } from './licenses.ts';
import type { DISPUTE_ACTIONS, GRANTS, QUANTITIES, REFUND_ACTIONS } from './stores.ts';
import type { LicenseTerms } from './terms.ts';

/** What an id of the store means here. */
export interface SoldOffer {
  /** Undefined if a person has named the product. */
  ref?: string;
  product: string;
  grant: (typeof GRANTS)[number];
  days: number | null;
  quantity: (typeof QUANTITIES)[number];
  terms: LicenseTerms;
  graceDays: number;
  onRefund: (typeof REFUND_ACTIONS)[number];
  onDispute: (typeof DISPUTE_ACTIONS)[number];
  mail: boolean;
}

/** What a purchase wants of a license. */
export interface WantedLicense {
  status: StoredLicenseStatus;
  product: string;
  /** Its last day. Null if it has none. */
  expiresAt: string | null;
  /** Null if the license has the product's. */
  graceDays: number | null;
  seats: number | null;
  /** Set if it was made for what turned out to be another license's payment. */
  isSurplus?: true;
}
