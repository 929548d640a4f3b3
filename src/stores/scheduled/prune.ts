import { asc, inArray, lte, sql } from 'drizzle-orm';
import type { DatabaseCtx } from '../../db/ctx.ts';
import { purchaseMessages, storeMessages } from '../../db/schema.ts';
import { DAY_MS } from '../../shared/rules/dates.ts';
import { MESSAGE_DAYS } from '../../shared/rules/stores.ts';

/** The most messages that a run deletes. The next run continues. */
const MAX_MESSAGES = 2_000;

/** Deletes messages that are older than their bodies are kept. What they have said is in the facts. */
export const pruneMessages = async ({ db }: DatabaseCtx): Promise<void> => {
  const oldest = db
    .select({ id: storeMessages.id })
    .from(storeMessages)
    .where(lte(storeMessages.receivedAt, Date.now() - MESSAGE_DAYS * DAY_MS))
    .orderBy(asc(storeMessages.receivedAt))
    .limit(MAX_MESSAGES);
  await db.batch([
    db.delete(purchaseMessages).where(sql`${purchaseMessages.messageId} IN ${oldest}`),
    db.delete(storeMessages).where(inArray(storeMessages.id, oldest)),
  ]);
};
