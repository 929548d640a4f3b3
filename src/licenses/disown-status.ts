import { and, eq, isNotNull, sql } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import { purchaseLicenses } from '../db/schema.ts';

/** After a person has set a license's status, its purchase takes back no status that it had set, even if both are the same. */
export const disownStatus = ({ db, accountId }: Ctx, licenseIds: string[]) =>
  db
    .update(purchaseLicenses)
    .set({ setStatus: null, returnsTo: null })
    .where(
      and(
        eq(purchaseLicenses.accountId, accountId),
        sql`${purchaseLicenses.licenseId} ${inJson(licenseIds)}`,
        isNotNull(purchaseLicenses.setStatus),
      ),
    );
