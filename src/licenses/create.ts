import type { BatchItem } from 'drizzle-orm/batch';
import type * as z from 'zod';
import { auditCreate } from '../audit/audit.ts';
import { getAccount } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../db/errors.ts';
import { licenses, type LicenseRow, type LicenseValues } from '../db/schema.ts';
import { eventChange } from '../gate/feed/write.ts';
import { commit, pull } from '../gate/worker/feed.ts';
import { findTerms } from '../products/products.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { addDays, isoDate } from '../shared/rules/dates.ts';
import { generateLicenseKey } from '../shared/rules/license-key.ts';
import { licenseEvent } from '../shared/text/events.ts';
import { newId } from '../shared/text/ids.ts';
import { findLicense } from './find.ts';
import { claimIdempotencyKey, findLicenseIdByKey, type Idempotency } from './idempotency.ts';
import { accountWithRoom } from './limit.ts';
import {
  type createLicenseInput,
  EMPTY_COLUMNS,
  isTodayOrLater,
  TODAY_OR_LATER,
  toColumns,
} from './schemas.ts';

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

const insert = async (
  ctx: Ctx,
  input: CreateLicenseInput,
  idempotency: Idempotency | null,
  nowMs: number,
): Promise<LicenseValues> => {
  const license = await newLicense(ctx, input, nowMs);
  const insertLicense = ctx.db
    .insert(licenses)
    .values({ ...license, accountId: accountWithRoom(ctx, nowMs) });
  // The claim comes first, so that a repeat fails on its claim rather than on what the first call has used up. The license
  // comes last, because the trigger that counts its bytes also counts those of the others.
  const statements: [BatchItem<'sqlite'>, ...BatchItem<'sqlite'>[]] = [
    auditCreate(ctx, license.id),
    insertLicense,
  ];
  if (idempotency) statements.unshift(...claimIdempotencyKey(ctx, idempotency, license.id, nowMs));
  await commit(
    ctx,
    statements,
    [
      { kind: 'license', ref: license.id },
      eventChange(licenseEvent('license.created', license.createdAt, license)),
    ],
    { counted: { call: 'create', claim: idempotency?.key ?? null } },
  );
  return license;
};

const licenseWasDeleted = () =>
  new AppError('idempotency_conflict', {
    message: 'The License That This Idempotency Key Created Was Deleted',
  });

/** Returns the license that an earlier call with the same key created. From then on every verify sees it. */
const findRepeated = async (
  ctx: Ctx,
  idempotency: Idempotency | null,
  nowMs: number,
): Promise<LicenseRow | null> => {
  const id = idempotency && (await findLicenseIdByKey(ctx, idempotency, nowMs));
  if (!id) return null;
  // The earlier call may have failed between its commit and its pull.
  const [license] = await Promise.all([findLicense(ctx, id, licenseWasDeleted), pull(ctx, id)]);
  return license;
};

/**
 * Creates a license. A repeat with the same Idempotency-Key returns the first call's license, even if both run in
 * parallel: the key is claimed in the license's commit, so the second commit fails and then finds the first license.
 */
export const createLicense = async (
  ctx: Ctx,
  input: CreateLicenseInput,
  idempotency: Idempotency | null,
): Promise<LicenseValues> => {
  // One time for the whole call, so that a claim can't expire between its lookup and its insert.
  const nowMs = Date.now();
  const repeated = await findRepeated(ctx, idempotency, nowMs);
  if (repeated) return repeated;
  if (input.expires_at && !isTodayOrLater(input.expires_at, nowMs))
    throw invalidField('expires_at', TODAY_OR_LATER);
  try {
    return await insert(ctx, input, idempotency, nowMs);
  } catch (error) {
    if (violatesNotNull(error, 'licenses.account_id')) throw new AppError('license_limit_reached');
    const isKeyTaken = violatesUnique(error, 'licenses.account_id, licenses.license_key');
    // The first call may have been the last that the limit allows.
    const isOverLimit = error instanceof AppError && error.code === 'usage_limit_exceeded';
    if (!isKeyTaken && !isOverLimit && !violatesUnique(error, 'idempotency_keys.')) throw error;
    const first = await findRepeated(ctx, idempotency, nowMs);
    if (first) return first;
    throw isKeyTaken ? new AppError('license_key_taken') : error;
  }
};
