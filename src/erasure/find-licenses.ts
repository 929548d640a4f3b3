// Finds the licenses that have or had a customer.
import { and, asc, eq, gt, lte, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { erasures, licenseChanges, licenses } from '../db/schema.ts';

/** Licenses per commit. */
export const MAX_LICENSES = 500;
/** History rows that a query compares. No index has the customers of earlier times. */
const ROWS_PER_QUERY = 20_000;
/** Called before so many D1 queries are made. Throws if they would be too many. */
export type SpendQueries = (queries: number) => void;

export const licensesOf = ({ db, accountId }: Ctx, email: string) =>
  db
    .select({ id: licenses.id })
    .from(licenses)
    .where(and(eq(licenses.accountId, accountId), sql`lower(${licenses.customerEmail}) = ${email}`));

const savePosition = ({ db, accountId }: Ctx, email: string, position: string) =>
  db
    .update(erasures)
    .set({ position })
    .where(
      and(eq(erasures.accountId, accountId), eq(erasures.kind, 'customer'), eq(erasures.subject, email)),
    );

/**
 * Returns the licenses whose history has the email address, in pages, from where an earlier call has stopped. What was looked
 * through before is not looked through again: a call that goes on finds what was there when the first one began.
 */
export async function* findFormer(
  ctx: Ctx,
  email: string,
  position: string,
  spend: SpendQueries,
): AsyncGenerator<string[]> {
  const { db, accountId } = ctx;
  const isOwn = eq(licenseChanges.accountId, accountId);
  for (let after = position; ;) {
    spend(2);
    const isLater = and(isOwn, gt(licenseChanges.licenseId, after));
    const [end] = await db
      .select({ id: licenseChanges.licenseId })
      .from(licenseChanges)
      .where(isLater)
      .orderBy(asc(licenseChanges.licenseId))
      .limit(1)
      .offset(ROWS_PER_QUERY);
    const found = await db
      .selectDistinct({ id: licenseChanges.licenseId })
      .from(licenseChanges)
      .where(
        and(
          isLater,
          end && lte(licenseChanges.licenseId, end.id),
          sql`instr(lower(${licenseChanges.before} || ${licenseChanges.after}), ${email})`,
        ),
      );
    for (let from = 0; from < found.length; from += MAX_LICENSES)
      yield found.slice(from, from + MAX_LICENSES).map(({ id }) => id);
    // At the end, the next call begins anew: it erases also what comes back while this one goes on elsewhere.
    const next = end?.id ?? '';
    if (after !== next) {
      spend(1);
      await savePosition(ctx, email, next);
    }
    if (!end) return;
    after = next;
  }
}
