// What a product allows its licenses. A license's own terms override its product's, field by field.

export type EntitlementValue = boolean | number | string;

/** The terms of a product. An absent field has its default. */
export interface ProductTerms {
  max_activations?: number;
  lease_seconds?: number;
  offline_days?: number;
  max_transfers?: number;
  self_service?: boolean;
  duration_days?: number;
  updates_days?: number;
  grace_days?: number;
  entitlements?: Record<string, EntitlementValue>;
}

/** Lifts a limit of the product. */
export const NO_LIMIT = 'none';

type Liftable = 'max_activations' | 'lease_seconds' | 'max_transfers';

/** The terms that a license overrides. An entitlement that is null takes the product's away. */
export type LicenseTerms = Partial<Record<Liftable, number | typeof NO_LIMIT>> &
  Pick<ProductTerms, 'offline_days' | 'self_service' | 'grace_days'> & {
    entitlements?: Record<string, EntitlementValue | null>;
  };

/** The terms that apply to a license. */
export interface Terms {
  /** Null if the number of machines isn't limited. */
  maxActivations: number | null;
  /** Null if a seat is held until it is released. */
  leaseSeconds: number | null;
  offlineDays: number;
  maxTransfers: number | null;
  selfService: boolean;
  /** For how many days a license stays good after its last day. */
  graceDays: number;
  entitlements: Record<string, EntitlementValue>;
}

/** A URL can't have the code `.` or `..` in its path. */
export const PRODUCT_CODE_PATTERN = /^(?!\.\.?$)[A-Za-z0-9._-]+$/;
export const MAX_PRODUCT_CODE_LENGTH = 64;
export const MAX_PRODUCT_NAME_LENGTH = 200;
export const MAX_PRODUCTS = 1_000;

export const DEFAULT_OFFLINE_DAYS = 14;
export const MAX_OFFLINE_DAYS = 366;
export const MAX_GRACE_DAYS = 60;
export const MAX_SEATS = 100_000;
export const MIN_LEASE_SECONDS = 60;
export const MAX_LEASE_SECONDS = 2_678_400;
export const MAX_ENTITLEMENTS = 64;
export const MAX_ENTITLEMENTS_BYTES = 2_048;
/** A machine that held a seat within this time may return without counting as a transfer. */
export const TRANSFER_DAYS = 30;

const limitOf = (own: number | typeof NO_LIMIT | undefined, inherited: number | undefined): number | null =>
  own === NO_LIMIT ? null : (own ?? inherited ?? null);

const mergeEntitlements = (
  inherited: Record<string, EntitlementValue> = {},
  own: Record<string, EntitlementValue | null> = {},
): Record<string, EntitlementValue> =>
  Object.fromEntries(
    Object.entries({ ...inherited, ...own }).filter(
      (entry): entry is [string, EntitlementValue] => entry[1] !== null,
    ),
  );

export const resolveTerms = (product: ProductTerms, license: LicenseTerms): Terms => ({
  maxActivations: limitOf(license.max_activations, product.max_activations),
  leaseSeconds: limitOf(license.lease_seconds, product.lease_seconds),
  offlineDays: license.offline_days ?? product.offline_days ?? DEFAULT_OFFLINE_DAYS,
  maxTransfers: limitOf(license.max_transfers, product.max_transfers),
  selfService: license.self_service ?? product.self_service ?? false,
  graceDays: license.grace_days ?? product.grace_days ?? 0,
  entitlements: mergeEntitlements(product.entitlements, license.entitlements),
});

export const NO_TERMS = resolveTerms({}, {});

/** Without terms, a license is verified as if there were no products. */
export const hasTerms = (product: ProductTerms, license: LicenseTerms): boolean =>
  Object.keys(product).length > 0 || Object.keys(license).length > 0;

/** A license's own terms in a PATCH. Null sets a field back to the product's. */
export type LicenseTermsPatch = { [K in keyof LicenseTerms]?: LicenseTerms[K] | null | undefined };

/** Merges a PATCH into a license's own terms, field by field. */
export const mergeTerms = (terms: LicenseTerms, patch: LicenseTermsPatch): LicenseTerms => {
  const changed = Object.entries({ ...terms, ...patch });
  return Object.fromEntries(changed.filter(([, value]) => value !== null && value !== undefined));
};
