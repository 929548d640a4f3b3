import { and, eq, isNotNull, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { purchaseLicenses } from '../db/schema.ts';

/** A status that a person sets is theirs: the purchase takes back none of its own anymore, also if that was the same. */
export const disownStatus = ({ db, accountId }: Ctx, licenseIds: string[]) =>
  db
    .update(purchaseLicenses)
    .set({ setStatus: null, returnsTo: null })
    .where(
      and(
        eq(purchaseLicenses.accountId, accountId),
        sql`${purchaseLicenses.licenseId} IN (SELECT value FROM json_each(${JSON.stringify(licenseIds)}))`,
        isNotNull(purchaseLicenses.setStatus),
      ),
    );
