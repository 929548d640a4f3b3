import type { BatchItem } from 'drizzle-orm/batch';
import type * as z from 'zod';
import { getAccount } from '../accounts/account.ts';
import { violatesUnique } from '../db/errors.ts';
import { licenses, type LicenseRow } from '../db/schema.ts';
import { charged } from '../gate/charge.ts';
import { announces, commit } from '../gate/feed.ts';
import type { Ctx } from '../http/context.ts';
import { AppError } from '../shared/app-error.ts';
import { addDays, isoDate } from '../shared/clock.ts';
import { licenseEvent } from '../shared/events.ts';
import { newId } from '../shared/ids.ts';
import { generateLicenseKey } from '../shared/license-key.ts';
import { findLicense } from './find.ts';
import { claim, type Idempotency, licenseOfClaim } from './idempotency.ts';
import type { createLicenseInput } from './schemas.ts';

export type CreateLicenseInput = z.output<typeof createLicenseInput>;
export type NewLicense = Omit<LicenseRow, 'seq'>;

const newLicense = async (ctx: Ctx, input: CreateLicenseInput): Promise<NewLicense> => {
  const nowMs = Date.now();
  return {
    id: newId('lic'),
    accountId: ctx.accountId,
    licenseKey: input.license_key ?? generateLicenseKey(),
    status: 'active',
    product: input.product ?? null,
    customerEmail: input.customer_email ?? (await getAccount(ctx)).email,
    customerName: input.customer_name ?? null,
    expiresAt: input.duration_days
      ? addDays(isoDate(nowMs), input.duration_days)
      : (input.expires_at ?? null),
    metadata: input.metadata ?? {},
    createdAt: nowMs,
    updatedAt: nowMs,
  };
};

const insert = async (ctx: Ctx, input: CreateLicenseInput, idempotency: Idempotency | null) => {
  const license = await newLicense(ctx, input);
  const claims: BatchItem<'sqlite'>[] = idempotency ? claim(ctx, idempotency, license.id) : [];
  await commit(
    ctx,
    [ctx.db.insert(licenses).values(license), ...claims],
    [
      { kind: 'license', ref: license.id },
      announces(licenseEvent('license.created', license.createdAt, license)),
    ],
  );
  return license;
};

/**
 * A retry with the same Idempotency-Key gets the license of the first call, also if both are under way at
 * once: the key is claimed in the license's own commit, so the later one fails whole and then finds it.
 */
export const createLicense = async (
  ctx: Ctx,
  input: CreateLicenseInput,
  idempotency: Idempotency | null,
): Promise<NewLicense> => {
  const earlier = idempotency && (await licenseOfClaim(ctx, idempotency));
  if (earlier) return findLicense(ctx, earlier);
  try {
    return await charged(ctx, 'create', () => insert(ctx, input, idempotency));
  } catch (error) {
    if (idempotency && violatesUnique(error, 'idempotency_keys.')) {
      const first = await licenseOfClaim(ctx, idempotency);
      if (first) return findLicense(ctx, first);
    }
    throw violatesUnique(error, 'licenses.account_id, licenses.license_key')
      ? new AppError('license_key_taken')
      : error;
  }
};
