import { and, eq, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { licenses, type LicenseRow } from '../db/schema.ts';
import { commit } from '../gate/feed.ts';
import type { Ctx } from '../http/context.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { addDays, isoDate, laterDate } from '../shared/clock.ts';
import { findLicense } from './find.ts';
import { nextStatus, type Transition } from './lifecycle.ts';
import type { patchLicenseInput, renewLicenseInput } from './schemas.ts';

type Fields = Partial<
  Pick<LicenseRow, 'status' | 'product' | 'customerEmail' | 'customerName' | 'expiresAt' | 'metadata'>
>;

const ATTEMPTS = 5;

/**
 * Decides on the license as read and writes only if its status and expiry are still as they were then;
 * somebody else's change in between makes it decide again.
 */
const change = async (ctx: Ctx, id: string, decide: (license: LicenseRow) => Fields): Promise<LicenseRow> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const license = await findLicense(ctx, id);
    const fields = { ...decide(license), updatedAt: Date.now() };
    const update = ctx.db
      .update(licenses)
      .set(fields)
      .where(
        and(
          eq(licenses.accountId, ctx.accountId),
          eq(licenses.id, id),
          eq(licenses.status, license.status),
          sql`${licenses.expiresAt} IS ${license.expiresAt}`,
        ),
      )
      .returning();
    const [[changed]] = await commit(ctx, [update], [{ kind: 'license', ref: id }]);
    if (changed) return changed;
  }
  throw new AppError('unavailable');
};

const refuseRevoked = ({ status }: LicenseRow) => {
  if (status === 'revoked')
    throw new AppError('invalid_transition', { message: 'A revoked license stays revoked.' });
};

export const transitionLicense = (ctx: Ctx, id: string, transition: Transition) =>
  change(ctx, id, ({ status }) => ({ status: nextStatus(status, transition) }));

/** Days count from the license's last day if that is still to come, else from today. */
export const renewLicense = (ctx: Ctx, id: string, input: z.output<typeof renewLicenseInput>) =>
  change(ctx, id, (license) => {
    refuseRevoked(license);
    if (input.duration_days === undefined) return { expiresAt: input.expires_at ?? null };
    const today = isoDate(Date.now());
    const expiresAt = addDays(laterDate(license.expiresAt ?? today, today), input.duration_days);
    // Years of five digits are no YYYY-MM-DD: cut to ten characters they would sort before today.
    if (expiresAt.startsWith('+')) throw invalidField('duration_days', 'must end before the year 10000');
    return { expiresAt };
  });

export const patchLicense = (ctx: Ctx, id: string, input: z.output<typeof patchLicenseInput>) =>
  change(ctx, id, (license) => {
    if (input.expires_at !== undefined) refuseRevoked(license);
    return {
      ...(input.customer_email !== undefined && { customerEmail: input.customer_email }),
      ...(input.customer_name !== undefined && { customerName: input.customer_name }),
      ...(input.product !== undefined && { product: input.product }),
      ...(input.expires_at !== undefined && { expiresAt: input.expires_at }),
      ...(input.metadata !== undefined && { metadata: input.metadata }),
    };
  });
