import { and, eq, exists } from 'drizzle-orm';
import type { PublicCtx } from '../db/ctx.ts';
import { appliedFacts, isLive, type SubscriptionRow, subscriptions } from '../db/schema.ts';
import { accounts } from '../db/schema.ts';

// What keeps two that change one subscription at the same time from undoing each other's work.

/** The account, for as long as this subscription is the one that it lives on: another may have replaced it. */
export const livesOn = ({ db }: PublicCtx, accountId: string, id: string, condition = isLive) =>
  and(
    eq(accounts.id, accountId),
    exists(
      db
        .select({ id: subscriptions.id })
        .from(subscriptions)
        .where(and(eq(subscriptions.id, id), condition)),
    ),
  );

/** Whoever commits this alone says what becomes of a subscription: it is cancelled, replaced or at its end once. */
export const claimEnd = ({ db }: PublicCtx, { id, cancelledAt }: SubscriptionRow) =>
  cancelledAt === null ? [db.insert(appliedFacts).values({ name: `over:${id}`, appliedAt: Date.now() })] : [];
