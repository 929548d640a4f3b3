import { isDeepStrictEqual } from 'node:util';
import type { LicenseValues, ProductRow } from '../db/schema.ts';
import type { ChangedColumns } from '../licenses/history.ts';
import { EMPTY_COLUMNS, toColumns } from '../licenses/schemas.ts';
import { toProductTerms } from '../products/products.ts';
import { addDays, isoDate } from '../shared/rules/dates.ts';
import { CHANGEABLE_FIELDS, columnOf } from '../shared/rules/license-fields.ts';
import type { ProductTerms } from '../shared/rules/terms.ts';
import { omitUndefined } from '../shared/schemas/omit-undefined.ts';
import { newId, newIdAt } from '../shared/text/ids.ts';
import {
  type ImportOptions,
  type ImportResult,
  isOfExport,
  type LicenseLine,
  type LineError,
  type ProductLine,
} from './schemas.ts';

// Decides what the lines of an import change, one after another. A line sees the changes of the lines before it.

/** `before` is null for a license that doesn't exist yet. */
export interface PlannedLicense {
  before: LicenseValues | null;
  after: LicenseValues;
  /** The license's row, or 0. */
  seq: number;
  /** The number of the license's last change. */
  historySeq: number;
}

export interface PlannedProduct {
  before: ProductRow | null;
  after: Omit<ProductRow, 'accountId'>;
}

export type LineOutcome = { result: Exclude<ImportResult, 'failed'>; id?: string } | { error: LineError };

/** The accounts' facts that decide about new licenses. */
export interface Facts {
  email: string;
  room: number;
  nowMs: number;
  termsOf: (product: string | null | undefined) => ProductTerms;
  /** Whether a license may not have the product, because it isn't one. */
  isUnknown: (product: string) => boolean;
}

export const refuse = (code: string, message: string): LineOutcome => ({ error: { code, message } });

/** The outcome of a line whose product isn't one. The batch says which products are like it. */
export const UNKNOWN_PRODUCT = refuse('invalid_request', 'Invalid Request');

/** Whether the line would give the license a product that isn't one. */
const setsUnknown = (before: string | null, value: LicenseLine, { isUnknown }: Facts): boolean => {
  const { product } = value;
  return !!product && product !== before && !isOfExport(value) && isUnknown(product);
};

/** The last day, so many days after the license was created. */
const lastDay = (createdAtMs: number, days: number | undefined): string | undefined =>
  days === undefined ? undefined : addDays(isoDate(createdAtMs), days);

/** Returns the columns that a line sets. */
const toFields = (value: LicenseLine, createdAtMs: number): ChangedColumns => {
  const { status, duration_days, ...input } = value;
  return omitUndefined({
    ...toColumns(input),
    expiresAt: input.expires_at === undefined ? lastDay(createdAtMs, duration_days) : input.expires_at,
    status: status === 'expired' ? ('active' as const) : status,
  });
};

const create = (licenseKey: string, value: LicenseLine, facts: Facts): LicenseValues => {
  const createdAt = value.created_at ?? facts.nowMs;
  const terms = facts.termsOf(value.product);
  return {
    ...EMPTY_COLUMNS,
    expiresAt: lastDay(createdAt, terms.duration_days) ?? null,
    ...(value.updates_until === undefined && {
      updatesUntil: lastDay(createdAt, terms.updates_days) ?? null,
    }),
    customerEmail: facts.email,
    status: 'active',
    ...toFields(value, createdAt),
    id: value.created_at === undefined ? newId('lic') : newIdAt('lic', createdAt),
    licenseKey,
    createdAt,
    updatedAt: facts.nowMs,
  };
};

/** Returns the fields of the history that differ. */
export const changedFields = (before: LicenseValues, after: LicenseValues) =>
  CHANGEABLE_FIELDS.filter((field) => !isDeepStrictEqual(before[columnOf(field)], after[columnOf(field)]));

/** Revoking is final, see the license's transitions. */
const isFinal = (before: LicenseValues, after: LicenseValues) =>
  before.status === 'revoked' && (after.status !== 'revoked' || after.expiresAt !== before.expiresAt);

const hasLongYear = ({ expiresAt, updatesUntil }: LicenseValues) =>
  [expiresAt, updatesUntil].some((date) => date?.startsWith('+'));

/** Decides about a line, and adds what it changes to the plan. */
export const planLicense = (
  planned: Map<string, PlannedLicense>,
  licenseKey: string,
  value: LicenseLine,
  { onConflict }: Pick<ImportOptions, 'onConflict'>,
  facts: Facts,
): LineOutcome => {
  const known = planned.get(licenseKey);
  if (!known) {
    if (setsUnknown(null, value, facts)) return UNKNOWN_PRODUCT;
    const after = create(licenseKey, value, facts);
    if (hasLongYear(after)) return refuse('invalid_request', 'The license must end before the year 10000.');
    if (facts.room < 1) return refuse('license_limit_reached', 'License Limit Reached');
    facts.room--;
    planned.set(licenseKey, { before: null, after, seq: 0, historySeq: 0 });
    return { result: 'created', id: after.id };
  }
  const { id, createdAt } = known.after;
  const after = { ...known.after, ...toFields(value, createdAt) };
  if (changedFields(known.after, after).length === 0) return { result: 'unchanged', id };
  if (onConflict === 'skip') return { result: 'skipped', id };
  if (onConflict === 'fail') return refuse('license_key_taken', 'A license with this key has other values.');
  if (setsUnknown(known.after.product, value, facts)) return UNKNOWN_PRODUCT;
  if (hasLongYear(after)) return refuse('invalid_request', 'The license must end before the year 10000.');
  if (isFinal(known.after, after))
    return refuse('invalid_transition', 'A revoked license can’t become valid again.');
  // Later than the last change, so that others see that the license has changed.
  known.after = { ...after, updatedAt: Math.max(facts.nowMs, (known.before?.updatedAt ?? 0) + 1) };
  return { result: 'updated', id };
};

export const planProduct = (
  planned: Map<string, PlannedProduct>,
  { code, name = null, terms, created_at }: ProductLine,
  { onConflict }: Pick<ImportOptions, 'onConflict'>,
  facts: { room: number; nowMs: number },
): LineOutcome => {
  const known = planned.get(code);
  const fields = { name, terms: toProductTerms(terms) };
  if (!known) {
    if (facts.room < 1) return refuse('limit_reached', 'The account has as many products as it may have.');
    facts.room--;
    const after = { code, ...fields, createdAt: created_at ?? facts.nowMs, updatedAt: facts.nowMs };
    planned.set(code, { before: null, after });
    return { result: 'created' };
  }
  const { after } = known;
  if (isDeepStrictEqual({ name: after.name, terms: after.terms }, fields)) return { result: 'unchanged' };
  if (onConflict === 'skip') return { result: 'skipped' };
  if (onConflict === 'fail')
    return refuse('product_code_taken', 'A product with this code has another name or other terms.');
  known.after = { ...after, ...fields, updatedAt: Math.max(facts.nowMs, after.updatedAt + 1) };
  return { result: 'updated' };
};
