import { and, eq, exists, type SQL, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { auditAsRead, untilAsRead } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../db/errors.ts';
import { licenses, type LicenseRow } from '../db/schema.ts';
import { requireVersion } from '../db/versions.ts';
import { eventChange, type FeedChange } from '../gate/feed/write.ts';
import { commit } from '../gate/worker/commit.ts';
import { ifNamesProduct, unknownProduct } from '../products/named.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import type { AuditAction, AuditDetails } from '../shared/rules/audit.ts';
import { addDays, isoDate, laterDate } from '../shared/rules/dates.ts';
import { generateLicenseKey } from '../shared/rules/license-key.ts';
import { canChangeExpiry, nextStatus, type Transition } from '../shared/rules/licenses.ts';
import type { LabelOptions } from './create.ts';
import { disownStatus } from './disown-status.ts';
import { findLicense } from './find.ts';
import { changeEvent, type ChangedColumns, recordChange } from './history.ts';
import { requireTodayOrLater } from './last-day.ts';
import {
  type patchLicenseInput,
  type renewLicenseInput,
  type rotateKeyInput,
  toColumns,
  toLicense,
} from './schemas.ts';

/** A seller ends a license also beyond the account's limits. Only `reinstate` leads back, so this isn't repeated at will. */
const ENDING: ReadonlySet<AuditAction> = new Set<AuditAction>(['license.suspend', 'license.revoke']);

/** Each change of a license sets a later time than the one before it, so the time tells whether the license is as it was read. */
const updateTime = ({ updatedAt }: LicenseRow) => Math.max(Date.now(), updatedAt + 1);

interface ChangeOptions {
  details?: AuditDetails | null;
  reason?: string | undefined;
  /** Whether the license may come to have a product that isn't one. */
  allowsLabel?: boolean;
  /** What the gate must forget of the license. */
  erases?: (license: LicenseRow) => FeedChange[];
}

/** Whether the license takes no more space than it does now, as a condition for a batch that has changed it. */
const isNoLarger = async ({ db }: Ctx, isLicense: SQL | undefined) => {
  const bytes = sql<number>`bytes`;
  const [now] = await db.select({ bytes }).from(licenses).where(isLicense);
  return sql`(${db.select({ bytes }).from(licenses).where(isLicense)}) <= ${now?.bytes ?? 0}`;
};

/** Reads the license, decides, and commits, again if another change comes in between. */
const tryChange = (
  ctx: Ctx,
  action: AuditAction,
  id: string,
  decide: (license: LicenseRow) => ChangedColumns,
  {
    details = null,
    reason,
    allowsLabel = false,
    erases = () => [],
    isFull,
  }: ChangeOptions & { isFull: boolean },
): Promise<LicenseRow> =>
  untilAsRead(async () => {
    const license = await findLicense(ctx, id);
    requireVersion(ctx, toLicense(license));
    const fields = decide(license);
    const updatedAt = updateTime(license);
    const { product = null } = fields;
    const keepsProduct = product === null || product === license.product;
    const isLicense = and(eq(licenses.accountId, ctx.accountId), eq(licenses.id, id));
    const isAsRead = and(isLicense, eq(licenses.updatedAt, license.updatedAt));
    const found = exists(ctx.db.select({ id: licenses.id }).from(licenses).where(isAsRead));
    const update = ctx.db
      .update(licenses)
      .set({
        ...fields,
        updatedAt: keepsProduct || allowsLabel ? updatedAt : ifNamesProduct(ctx, product, updatedAt),
      })
      .where(isLicense)
      .returning();
    const event = changeEvent(license, fields, updatedAt, reason);
    const [, , [changed]] = await commit(
      ctx,
      [
        auditAsRead(ctx, found, action, id, details),
        recordChange(ctx, fields, updatedAt, isLicense, reason),
        update,
        ...(fields.status === undefined ? [] : [disownStatus(ctx, [id])]),
      ],
      [{ kind: 'license', ref: id }, ...erases(license), ...(event ? [eventChange(event)] : [])],
      {
        isBeyondLimits: ENDING.has(action),
        ...(isFull && { isNoLarger: await isNoLarger(ctx, isLicense) }),
      },
    );
    if (!changed) throw new Error(`The license ${id} was not updated.`);
    return changed;
  });

/** An account that is full may still make changes that need no more space, such as a renewal. */
const change = async (
  ctx: Ctx,
  action: AuditAction,
  id: string,
  decide: (license: LicenseRow) => ChangedColumns,
  options: ChangeOptions = {},
): Promise<LicenseRow> => {
  try {
    return await tryChange(ctx, action, id, decide, { ...options, isFull: false });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'storage_limit_reached') throw error;
    return tryChange(ctx, action, id, decide, { ...options, isFull: true });
  }
};

const requireChangeableExpiry = ({ status }: LicenseRow) => {
  if (!canChangeExpiry(status)) {
    throw new AppError('invalid_transition', {
      message: `The expiry of a ${status} license can’t be changed.`,
    });
  }
};

export const transitionLicense = (ctx: Ctx, id: string, transition: Transition, reason?: string) =>
  change(
    ctx,
    `license.${transition}`,
    id,
    (license) => {
      const status = nextStatus(license.status, transition);
      if (status) return { status };
      throw new AppError('invalid_transition', {
        message: `Can’t ${transition} a license that is ${license.status}.`,
      });
    },
    { reason },
  );

/** Sets a new last day, or adds days to the current last day, or to today if that day has passed or there is none. */
export const renewLicense = async (ctx: Ctx, id: string, input: z.output<typeof renewLicenseInput>) => {
  requireTodayOrLater(input.expires_at, Date.now());
  return change(ctx, 'license.renew', id, (license) => {
    requireChangeableExpiry(license);
    if (input.duration_days === undefined) return { expiresAt: input.expires_at ?? null };
    const today = isoDate(Date.now());
    const expiresAt = addDays(laterDate(license.expiresAt ?? today, today), input.duration_days);
    // A year with five digits isn't YYYY-MM-DD and would sort before today.
    if (expiresAt.startsWith('+')) throw invalidField('duration_days', 'must end before the year 10000');
    return { expiresAt };
  });
};

export const patchLicense = async (
  ctx: Ctx,
  id: string,
  input: z.output<typeof patchLicenseInput>,
  { allowsLabel }: LabelOptions,
) => {
  requireTodayOrLater(input.expires_at, Date.now());
  try {
    return await change(
      ctx,
      'license.update',
      id,
      (license) => {
        if (input.expires_at !== undefined) requireChangeableExpiry(license);
        return toColumns(input, license);
      },
      { details: { fields: Object.keys(input) }, allowsLabel },
    );
  } catch (error) {
    if (input.product && violatesNotNull(error, 'licenses.updated_at'))
      throw await unknownProduct(ctx, input.product);
    throw error;
  }
};

/** Gives the license another key. The old one is unknown from then on, and the seats stay. */
export const rotateKey = async (ctx: Ctx, id: string, input: z.output<typeof rotateKeyInput>) => {
  const licenseKey = input.license_key ?? generateLicenseKey();
  try {
    return await change(
      ctx,
      'license.rotate_key',
      id,
      (license) => {
        if (license.licenseKey === licenseKey) throw new AppError('license_key_taken');
        return { licenseKey };
      },
      { erases: (license) => [{ kind: 'erased', ref: license.licenseKey }] },
    );
  } catch (error) {
    if (violatesUnique(error, 'licenses.account_id, licenses.license_key'))
      throw new AppError('license_key_taken');
    throw error;
  }
};
