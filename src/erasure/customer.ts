import { sql } from 'drizzle-orm';
import { audit, auditReadIf } from '../audit/audit.ts';
import { firstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { erasures } from '../db/schema.ts';
import { erasureLimits } from '../users/limits.ts';
import { consumeAttempts } from '../users/throttle.ts';
import { licensesOf } from './find-licenses.ts';
import { type Erased, finishErasures } from './finish.ts';

/**
 * Erases a customer from everything that the account has, except from API keys, webhook URLs, and the like. If this is cut
 * off, the scheduled work goes on with it, and so does a repeat.
 */
export const eraseCustomer = async (ctx: Ctx, email: string): Promise<Erased> => {
  const { env, db, accountId } = ctx;
  await consumeAttempts({ firstDb: firstDatabase(env) }, erasureLimits(accountId));
  const [entry] = await db.batch([
    auditReadIf(ctx, sql`NOT EXISTS ${licensesOf(ctx, email)}`, 'customer.erase', null),
    db
      .insert(erasures)
      .values({ accountId, kind: 'customer', subject: email, createdAt: Date.now() })
      // A row that has changed stays when the erasure that is under way ends.
      .onConflictDoUpdate({
        target: [erasures.accountId, erasures.kind, erasures.subject],
        set: { untilMs: sql`until_ms + 1` },
      }),
  ]);
  const erased = await finishErasures(ctx, { kind: 'customer', subject: email });
  // Only the history had this customer, so the entry above counted as a repeat of one from the same hour.
  if (erased.licenses > 0 && entry.meta.changes === 0) await audit(ctx, 'customer.erase', null);
  return erased;
};
