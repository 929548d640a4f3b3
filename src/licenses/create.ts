import type { BatchItem } from 'drizzle-orm/batch';
import type * as z from 'zod';
import { getAccount } from '../accounts/account.ts';
import { violatesUnique } from '../db/errors.ts';
import { licenses, type LicenseRow } from '../db/schema.ts';
import { eventChange, commit } from '../gate/feed.ts';
import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { addDays, isoDate } from '../shared/rules/dates.ts';
import { licenseEvent } from '../shared/events.ts';
import { newId } from '../shared/ids.ts';
import { generateLicenseKey } from '../shared/rules/license-key.ts';
import { findLicense } from './find.ts';
import { findLicenseIdByKey, type Idempotency, storeIdempotencyKey } from './idempotency.ts';
import { type createLicenseInput, EMPTY_COLUMNS, toColumns } from './schemas.ts';

export type CreateLicenseInput = z.output<typeof createLicenseInput>;
export type NewLicense = Omit<LicenseRow, 'seq'>;

const newLicense = async (ctx: Ctx, input: CreateLicenseInput): Promise<NewLicense> => {
  const nowMs = Date.now();
  const today = isoDate(nowMs);
  return {
    ...EMPTY_COLUMNS,
    ...toColumns(input),
    id: newId('lic'),
    accountId: ctx.accountId,
    licenseKey: input.license_key ?? generateLicenseKey(),
    status: 'active',
    customerEmail: input.customer_email ?? (await getAccount(ctx)).email,
    expiresAt: input.duration_days ? addDays(today, input.duration_days) : (input.expires_at ?? null),
    createdAt: nowMs,
    updatedAt: nowMs,
  };
};

const insert = async (ctx: Ctx, input: CreateLicenseInput, idempotency: Idempotency | null) => {
  const license = await newLicense(ctx, input);
  const keyStatements: BatchItem<'sqlite'>[] = idempotency
    ? storeIdempotencyKey(ctx, idempotency, license.id)
    : [];
  await commit(
    ctx,
    [ctx.db.insert(licenses).values(license), ...keyStatements],
    [
      { kind: 'license', ref: license.id },
      eventChange(licenseEvent('license.created', license.createdAt, license)),
    ],
    'create',
  );
  return license;
};

/**
 * Creates a license. A retry with the same Idempotency-Key returns the first call's license, even if both run in
 * parallel: the key is stored in the license's commit, so the second commit fails and then finds the first license.
 */
export const createLicense = async (
  ctx: Ctx,
  input: CreateLicenseInput,
  idempotency: Idempotency | null,
): Promise<NewLicense> => {
  const earlier = idempotency && (await findLicenseIdByKey(ctx, idempotency));
  if (earlier) return findLicense(ctx, earlier);
  try {
    return await insert(ctx, input, idempotency);
  } catch (error) {
    if (idempotency && violatesUnique(error, 'idempotency_keys.')) {
      const first = await findLicenseIdByKey(ctx, idempotency);
      if (first) return findLicense(ctx, first);
    }
    throw violatesUnique(error, 'licenses.account_id, licenses.license_key')
      ? new AppError('license_key_taken')
      : error;
  }
};
