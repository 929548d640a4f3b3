import {
  type LicenseTerms,
  type ProductTerms,
  resolveTerms,
  type Terms,
  TRANSFER_DAYS,
} from '../../../shared/rules/terms.ts';
import type { LicenseBody, Product } from '../../data/queries.ts';
import { formatCount, plural } from '../../lib/format.ts';
import { formatLease } from '../products/lease.ts';

export type Term = Exclude<keyof LicenseBody['terms'], 'entitlements'>;

export const TERM_NAMES: Record<Term, string> = {
  max_activations: 'Seats',
  lease_seconds: 'Seat lease',
  offline_days: 'Days offline',
  max_transfers: 'Machine changes',
  self_service: 'Self-service',
  grace_days: 'Days of grace',
};

const TEXTS: Record<Term, (terms: Terms) => string> = {
  max_activations: ({ maxActivations }) =>
    maxActivations === null ? 'No limit' : formatCount(maxActivations),
  lease_seconds: ({ leaseSeconds }) => (leaseSeconds === null ? 'Until released' : formatLease(leaseSeconds)),
  offline_days: ({ offlineDays }) => plural(offlineDays, 'day'),
  max_transfers: ({ maxTransfers }) =>
    maxTransfers === null ? 'No limit' : `${formatCount(maxTransfers)} within ${TRANSFER_DAYS} days`,
  self_service: ({ selfService }) => (selfService ? 'Customers may replace a machine' : 'Off'),
  grace_days: ({ graceDays }) => (graceDays === 0 ? 'None' : plural(graceDays, 'day')),
};

export type Source = 'license' | 'product' | 'default';

export const termsOf = (license: Pick<LicenseBody, 'terms'>, product: Product | null): Terms =>
  resolveTerms((product?.terms ?? {}) as ProductTerms, license.terms as LicenseTerms);

export const termText = (term: Term, terms: Terms): string => TEXTS[term](terms);

export const sourceOf = (term: Term, license: LicenseBody, product: Product | null): Source => {
  if (license.terms[term] !== undefined) return 'license';
  return product?.terms[term] === undefined ? 'default' : 'product';
};
