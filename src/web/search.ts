import { LICENSE_STATES, SEAT_FILTERS } from '../shared/rules/licenses.ts';
import { PURCHASE_STATUSES } from '../shared/rules/stores.ts';
import { EXPIRIES, LICENSE_SORTS, type LicenseFilter } from './data/license-filter.ts';
import type { PurchaseFilter } from './data/store-queries.ts';

// The search parameters of each page: filters, tabs and the open item, so that a URL can be shared. Validators
// return `undefined` for invalid parameters, because the router keeps parameters that they leave out.

type Search = Record<string, unknown>;

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
const oneOf = <T extends string>(values: readonly T[], value: unknown): T | undefined =>
  values.find((known) => known === value);
const flag = (value: unknown): true | undefined => (value === true ? true : undefined);

const time = (value: unknown): string | undefined =>
  Number.isNaN(Date.parse(text(value) ?? '')) ? undefined : text(value);

/** Accepts only paths of this dashboard, so that a sign-in link can't redirect to another site. */
const localPath = (value: unknown): string | undefined => {
  const url = URL.parse(text(value) ?? '', location.origin);
  return typeof value === 'string' && value.startsWith('/') && url?.origin === location.origin
    ? url.pathname + url.search + url.hash
    : undefined;
};

export interface SignInSearch {
  next?: string | undefined;
  lost?: true | undefined;
  /** When the account that was just deleted is erased. */
  erased_by?: string | undefined;
}
export const signInSearch = (search: Search): SignInSearch => ({
  next: localPath(search['next']),
  lost: flag(search['lost']),
  erased_by: time(search['erased_by']),
});

interface CreateSearch {
  create?: true | undefined;
}
export const createSearch = (search: Search): CreateSearch => ({ create: flag(search['create']) });

interface LicensesSearch extends CreateSearch, LicenseFilter {}
/** The router parses digits as a number. */
const textOrDigits = (value: unknown) => text(typeof value === 'number' ? `${value}` : value);
export const licensesSearch = (search: Search): LicensesSearch => ({
  q: textOrDigits(search['q']),
  product: textOrDigits(search['product']),
  customer: text(search['customer']),
  expiry: oneOf(EXPIRIES, search['expiry']),
  seats: oneOf(SEAT_FILTERS, search['seats']),
  machine: textOrDigits(search['machine']),
  sort: oneOf(LICENSE_SORTS, search['sort']),
  status: oneOf(LICENSE_STATES, search['status']),
  ...createSearch(search),
});

export const customersSearch = (search: Search): { q?: string | undefined } => ({
  q: textOrDigits(search['q']),
});

export const purchasesSearch = (search: Search): PurchaseFilter => ({
  q: textOrDigits(search['q']),
  status: oneOf(PURCHASE_STATUSES, search['status']),
});

interface WebhookSearch {
  delivery?: string | undefined;
  tab?: 'deliveries' | 'settings' | undefined;
}
export const webhookSearch = (search: Search): WebhookSearch => ({
  delivery: text(search['delivery']),
  tab: oneOf(['deliveries', 'settings'] as const, search['tab']),
});

export const billingSearch = (search: Search): { checkout?: 'done' | 'cancelled' | undefined } => ({
  checkout: oneOf(['done', 'cancelled'] as const, search['checkout']),
});

export interface AuditSearch {
  action?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}
export const auditSearch = (search: Search): AuditSearch => ({
  action: text(search['action']),
  from: time(search['from']),
  to: time(search['to']),
});
