import { and, eq, sql } from 'drizzle-orm';
import type * as z from 'zod';
import { auditWithinStorage, refuseEntry } from '../audit/audit.ts';
import type { Ctx } from '../db/ctx.ts';
import { licenses } from '../db/schema.ts';
import { findLicense } from '../licenses/find.ts';
import { AppError } from '../shared/app-error.ts';
import { isNobodys } from '../shared/rules/licenses.ts';
import { lowerAscii } from '../shared/rules/portal.ts';
import { type openPortalInput, portalLink } from './schemas.ts';
import { portalDisabled } from './sessions.ts';
import { getPortal } from './settings.ts';
import { deleteExpiredTokens, insertToken, newLink } from './tokens.ts';

const customerNotFound = () => new AppError('not_found', { message: 'Customer Not Found' });

/** Whom the link signs in. A license shows itself alone: many may have the account's own address. */
const subjectOf = async (ctx: Ctx, { license_id, customer_email }: z.output<typeof openPortalInput>) => {
  if (license_id !== undefined) {
    const license = await findLicense(ctx, license_id);
    return { email: lowerAscii(license.customerEmail), licenseId: license.id };
  }
  const email = lowerAscii(customer_email ?? '');
  const isTheirs = and(
    eq(licenses.accountId, ctx.accountId),
    eq(sql`lower(${licenses.customerEmail})`, email),
  );
  const [found] = isNobodys(email)
    ? []
    : await ctx.db.select({ id: licenses.id }).from(licenses).where(isTheirs).limit(1);
  if (!found) throw customerNotFound();
  return { email, licenseId: null };
};

/** Returns a link by which the seller's application lets a customer into the portal, once and soon. */
export const openPortal = async (ctx: Ctx, input: z.output<typeof openPortalInput>, origin: string) => {
  const portal = await getPortal(ctx);
  if (!portal.enabled || portal.slug === null) throw portalDisabled('The Portal Is Off');
  const { token, row } = newLink(ctx, 'open', {
    ...(await subjectOf(ctx, input)),
    returnUrl: input.return_url ?? null,
  });
  await ctx.db
    .batch([
      insertToken(ctx.db, row),
      auditWithinStorage(ctx, 'portal.open', row.licenseId),
      deleteExpiredTokens(ctx.db),
    ])
    .catch(refuseEntry);
  return { url: portalLink(origin, portal.slug, token), expiresAt: row.expiresAt };
};
