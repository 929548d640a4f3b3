import { accounts, apiKeys, licenses } from '../../db/schema.ts';
import type { KeyScope } from '../../shared/rules/api-keys.ts';

// The columns of D1 that a gate copies.

export const accountColumns = {
  email: accounts.email,
  homeRegion: accounts.homeRegion,
  isUnverified: accounts.isUnverified,
  plan: accounts.plan,
  periodStart: accounts.periodStart,
  periodEnd: accounts.periodEnd,
  planUntil: accounts.planUntil,
  grantedPlan: accounts.grantedPlan,
  grantedUntil: accounts.grantedUntil,
  suspendedAt: accounts.suspendedAt,
  eraseAt: accounts.eraseAt,
};
export const keyColumns = {
  id: apiKeys.id,
  fingerprint: apiKeys.fingerprint,
  scope: apiKeys.scope,
  expiresAt: apiKeys.expiresAt,
  allowedIps: apiKeys.allowedIps,
  deletedAt: apiKeys.deletedAt,
};
export const licenseColumns = {
  id: licenses.id,
  licenseKey: licenses.licenseKey,
  status: licenses.status,
  expiresAt: licenses.expiresAt,
  customerEmail: licenses.customerEmail,
  product: licenses.product,
  terms: licenses.terms,
  updatesUntil: licenses.updatesUntil,
};

interface KeyColumns {
  id: string;
  fingerprint: string;
  scope: KeyScope;
  expiresAt: number | null;
  allowedIps: string[] | null;
  deletedAt: number | null;
}

export const copiedKey = ({ deletedAt, ...key }: KeyColumns) => ({ ...key, deleted: deletedAt !== null });
