import { asc, inArray, lte, sql } from 'drizzle-orm';
import type { DatabaseCtx } from '../../db/ctx.ts';
import { purchaseMessages, storeMessages } from '../../db/schema.ts';
import { DAY_MS } from '../../shared/rules/dates.ts';
import { MESSAGE_DAYS } from '../../shared/rules/stores.ts';

const MAX_MESSAGES_PER_STEP = 2_000;
/** The next run continues. */
const MAX_STEPS = 50;

/** Returns whether more may be left. */
const pruneStep = async ({ db }: DatabaseCtx): Promise<boolean> => {
  const oldest = db
    .select({ id: storeMessages.id })
    .from(storeMessages)
    .where(lte(storeMessages.receivedAt, Date.now() - MESSAGE_DAYS * DAY_MS))
    .orderBy(asc(storeMessages.receivedAt))
    .limit(MAX_MESSAGES_PER_STEP);
  const [, deleted] = await db.batch([
    db.delete(purchaseMessages).where(sql`${purchaseMessages.messageId} IN ${oldest}`),
    db.delete(storeMessages).where(inArray(storeMessages.id, oldest)),
  ]);
  return deleted.meta.changes >= MAX_MESSAGES_PER_STEP;
};

/** Deletes messages that are older than their bodies are kept. What they have said is in the facts. */
export const pruneMessages = async (ctx: DatabaseCtx): Promise<void> => {
  for (let step = 0; step < MAX_STEPS; step++) if (!(await pruneStep(ctx))) return;
};
