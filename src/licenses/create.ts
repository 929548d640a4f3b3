import type * as z from 'zod';
import { auditCreate } from '../audit/audit.ts';
import { getAccount } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../db/errors.ts';
import { licenses, type LicenseValues } from '../db/schema.ts';
import { eventChange } from '../gate/feed/write.ts';
import { commit } from '../gate/worker/commit.ts';
import { ifNamesProduct, unknownProduct } from '../products/named.ts';
import { findTerms } from '../products/products.ts';
import { AppError } from '../shared/app-error.ts';
import { addDays, isoDate } from '../shared/rules/dates.ts';
import { generateLicenseKey } from '../shared/rules/license-key.ts';
import { licenseEvent } from '../shared/text/events.ts';
import { newId } from '../shared/text/ids.ts';
import { requireTodayOrLater } from './last-day.ts';
import { accountWithRoom } from './limit.ts';
import { type createLicenseInput, EMPTY_COLUMNS, toColumns } from './schemas.ts';

export type CreateLicenseInput = z.output<typeof createLicenseInput>;

/** The product's terms apply to fields that are absent from the input. A field that is null is not absent. */
const withProductTerms = async (ctx: Ctx, input: CreateLicenseInput, nowMs: number) => {
  const { product, expires_at, duration_days, updates_until } = input;
  const hasExpiry = expires_at !== undefined || duration_days !== undefined;
  const terms = hasExpiry && updates_until !== undefined ? {} : await findTerms(ctx, product);
  const dayIn = (days: number | undefined) => (days === undefined ? null : addDays(isoDate(nowMs), days));
  return {
    expiresAt: hasExpiry ? (expires_at ?? dayIn(duration_days)) : dayIn(terms.duration_days),
    updatesUntil: updates_until === undefined ? dayIn(terms.updates_days) : updates_until,
  };
};

const newLicense = async (ctx: Ctx, input: CreateLicenseInput, nowMs: number): Promise<LicenseValues> => ({
  ...EMPTY_COLUMNS,
  ...toColumns(input),
  ...(await withProductTerms(ctx, input, nowMs)),
  id: newId('lic'),
  licenseKey: input.license_key ?? generateLicenseKey(),
  status: 'active',
  customerEmail: input.customer_email ?? (await getAccount(ctx)).email,
  createdAt: nowMs,
  updatedAt: nowMs,
});

export interface LabelOptions {
  /** Whether a product that isn't one is a mere label. */
  allowsLabel: boolean;
}

const insert = async (
  ctx: Ctx,
  input: CreateLicenseInput,
  nowMs: number,
  { allowsLabel }: LabelOptions,
): Promise<LicenseValues> => {
  const license = await newLicense(ctx, input, nowMs);
  const { product, updatedAt } = license;
  const insertLicense = ctx.db.insert(licenses).values({
    ...license,
    accountId: accountWithRoom(ctx, nowMs),
    updatedAt: product === null || allowsLabel ? updatedAt : ifNamesProduct(ctx, product, updatedAt),
  });
  await commit(
    ctx,
    // The license comes last, because the trigger that counts its bytes also counts those of its entry and its claim.
    [auditCreate(ctx, license.id), insertLicense],
    [
      { kind: 'license', ref: license.id },
      eventChange(licenseEvent('license.created', license.createdAt, license)),
    ],
    { counted: 'create' },
  );
  return license;
};

export const createLicense = async (
  ctx: Ctx,
  input: CreateLicenseInput,
  options: LabelOptions,
): Promise<LicenseValues> => {
  // The time of the claim, by which the trigger finds it.
  const nowMs = ctx.idempotency?.atMs ?? Date.now();
  requireTodayOrLater(input.expires_at, nowMs);
  try {
    return await insert(ctx, input, nowMs, options);
  } catch (error) {
    if (violatesNotNull(error, 'licenses.account_id')) throw new AppError('license_limit_reached');
    if (input.product && violatesNotNull(error, 'licenses.updated_at'))
      throw await unknownProduct(ctx, input.product);
    if (violatesUnique(error, 'licenses.account_id, licenses.license_key'))
      throw new AppError('license_key_taken');
    throw error;
  }
};
