import type { KeyScope } from '../../shared/rules/api-keys.ts';
import type { StoredLicenseStatus } from '../../shared/rules/licenses.ts';
import type { PlanTerms } from '../../shared/rules/plans.ts';
import type { Region } from '../../shared/rules/regions.ts';
import type { LicenseTerms, ProductTerms } from '../../shared/rules/terms.ts';

// The rows of D1 that a gate has copies of, and how far its copy has come.

export interface CopiedAccount extends PlanTerms {
  email: string;
  homeRegion: Region | null;
  isUnverified: boolean;
  suspendedAt: number | null;
  /** Set if the account is to be erased. */
  eraseAt: number | null;
}

/** The row itself. What the operator lets all accounts do is not in it. */
export type StoredAccount = Omit<CopiedAccount, 'own'>;

export interface CopiedKey {
  fingerprint: string;
  scope: KeyScope;
  expiresAt: number | null;
  allowedIps: string[] | null;
  /** A deleted key stays, so that a load that read it earlier can't bring it back. */
  deleted: boolean;
}

export interface CopiedLicense {
  id: string;
  licenseKey: string;
  customerEmail: string;
  status: StoredLicenseStatus;
  expiresAt: string | null;
  product: string | null;
  terms: LicenseTerms;
  updatesUntil: string | null;
}

/** `terms` is null if the product was deleted. */
interface CopiedProduct {
  code: string;
  terms: ProductTerms | null;
}

export interface Rows {
  account?: StoredAccount | undefined;
  keys: (CopiedKey & { id: string })[];
  /** `isLifted` says that the license may no longer be revoked. Without it, a revocation is final. */
  licenses: (CopiedLicense & { isLifted?: boolean })[];
  products: CopiedProduct[];
  /** License keys that were replaced, or whose license was deleted. */
  erasedKeys: string[];
  /** The ids of licenses that no longer exist. */
  deletedLicenses: string[];
}

/** What the gate knows although D1, which was restored, doesn't. The lists have limits, and the total doesn't. */
export interface Orphans {
  licenses: { id: string; licenseKey: string; customerEmail: string; status: string; untilMs: number }[];
  apiKeyIds: string[];
  products: string[];
  total: number;
}

/** A license, and until when it was a customer's who is erased. */
export interface TracedLicense {
  licenseId: string;
  /** Null if the license was deleted since. */
  licenseKey?: string | null;
  untilMs: number;
}

/**
 * How far the feed has been applied. The last applied row stays in D1, and `appliedAt` is its time: if D1 no longer
 * has that row, D1 was restored to an earlier time, and numbers are being given out again.
 */
export interface FeedPosition {
  appliedSeq: number;
  /** Null until a row has been applied. */
  appliedAt: number | null;
  /** When the account moved to its present database, whose rows have other numbers. Absent if it never moved. */
  movedAt?: number | undefined;
  /** Rows until this time are of before a restore of D1, and were applied before it. Absent if D1 was never restored. */
  knownUntil?: number | undefined;
}

/** What admission needs of a copy, home's or a branch's. */
export interface KeyRows {
  account: () => CopiedAccount | null;
  key: (id: string) => CopiedKey | null;
}
