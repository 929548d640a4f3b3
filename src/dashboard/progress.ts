import { and, asc, eq, min } from 'drizzle-orm';
import type * as z from 'zod';
import type { Ctx } from '../db/ctx.ts';
import { accounts, apiKeys, licenses, payments, products } from '../db/schema.ts';
import { ownLimits } from '../shared/config/settings.ts';
import { gateOf } from '../shared/objects/address.ts';
import { outboxOf } from '../shared/objects/address.ts';
import { isoDate, isoTimeOrNull } from '../shared/rules/dates.ts';
import { type progressBody, type StepId, STEPS } from './schemas.ts';

/** Returns when each step was completed, derived from the data itself rather than from flags. */
const readCompletionTimes = async ({ env, db, accountId }: Ctx): Promise<Record<StepId, number | null>> => {
  const [statistics, outbox, [[account], [product], [key], [license], [payment]]] = await Promise.all([
    gateOf(env, accountId).statistics(isoDate(Date.now())),
    outboxOf(env, accountId).summary(),
    db.batch([
      db.select({ at: accounts.createdAt }).from(accounts).where(eq(accounts.id, accountId)),
      db
        .select({ at: min(products.createdAt) })
        .from(products)
        .where(eq(products.accountId, accountId)),
      db
        .select({ at: apiKeys.createdAt })
        .from(apiKeys)
        .where(eq(apiKeys.accountId, accountId))
        .orderBy(asc(apiKeys.id))
        .limit(1),
      db
        .select({ at: licenses.createdAt })
        .from(licenses)
        .where(eq(licenses.accountId, accountId))
        .orderBy(asc(licenses.id))
        .limit(1),
      db
        .select({ at: payments.paidAt })
        .from(payments)
        .where(and(eq(payments.accountId, accountId), eq(payments.status, 'paid')))
        .orderBy(asc(payments.id))
        .limit(1),
    ]),
  ]);
  return {
    create_account: account?.at ?? null,
    create_product: product?.at ?? null,
    create_api_key: key?.at ?? null,
    create_license: license?.at ?? null,
    verify_license: statistics.firstValidVerifyMs,
    add_webhook: outbox.firstEndpointAtMs,
    choose_plan: payment?.at ?? null,
  };
};

export const getProgress = async (ctx: Ctx): Promise<z.infer<typeof progressBody>> => {
  const completedAtMs = await readCompletionTimes(ctx);
  const isSelling = ownLimits(ctx.env) === null;
  const steps = STEPS.filter(([id]) => isSelling || id !== 'choose_plan').map(([id, title]) => {
    const atMs = completedAtMs[id];
    return { id, title, done: atMs !== null, done_at: isoTimeOrNull(atMs) };
  });
  return { steps, completed: steps.filter(({ done }) => done).length, total: steps.length };
};
