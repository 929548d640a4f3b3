import { and, count, eq } from 'drizzle-orm';
import type { AccountDatabase } from '../db/client.ts';
import { heldNotices } from '../db/schema.ts';
import { heldToken, sealLink, unsealLink } from '../mail/held-link.ts';
import type { SealingRing } from '../shared/crypto/sealing.ts';
import { logError } from '../shared/text/log.ts';
import { isReadable, isSealedOtherwise } from './sealed-with.ts';

// Seals the links of the notices that are not sent yet again. No index has them, because few rows wait at any time.

/** Each is an update of its own, and a request makes 1,000 queries for all kinds of secrets. */
const ROWS_PER_CALL = 50;

/** Seals the next links of a database again. */
export const resealHeld = async (db: AccountDatabase, ring: SealingRing): Promise<void> => {
  const rows = await db
    .select()
    .from(heldNotices)
    .where(and(isSealedOtherwise(heldToken, ring), isReadable(heldToken, ring)))
    .limit(ROWS_PER_CALL);
  for (const { email, subject, accountId, content: before } of rows) {
    try {
      const content = await sealLink(ring, await unsealLink(ring, before, email), email);
      // A notice that another has joined meanwhile stays as it is.
      await db
        .update(heldNotices)
        .set({ content })
        .where(
          and(
            eq(heldNotices.email, email),
            eq(heldNotices.subject, subject),
            eq(heldNotices.content, before),
          ),
        );
    } catch (error) {
      logError('reseal_failed', error, { account_id: accountId });
    }
  }
};

/** Counts the links that have to be sealed again. */
export const countHeld = async (db: AccountDatabase, ring: SealingRing): Promise<number> => {
  const [row] = await db.select({ n: count() }).from(heldNotices).where(isSealedOtherwise(heldToken, ring));
  return row?.n ?? 0;
};
