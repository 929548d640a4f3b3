import { and, eq, exists } from 'drizzle-orm';
import type { DatabaseCtx } from '../../db/ctx.ts';
import { accounts, appliedFacts, isLive, type SubscriptionRow, subscriptions } from '../../db/schema.ts';

// Guards against concurrent changes of the same subscription.

/** Matches the account only while the subscription is live, because another one may have replaced it. */
export const accountWhileLive = ({ db }: DatabaseCtx, accountId: string, subscriptionId: string) =>
  and(
    eq(accounts.id, accountId),
    exists(
      db
        .select({ id: subscriptions.id })
        .from(subscriptions)
        .where(and(eq(subscriptions.id, subscriptionId), isLive)),
    ),
  );

/** The name of the marker that a subscription was canceled, replaced or ended. */
export const overName = (subscriptionId: string) => `over:${subscriptionId}`;

/** Inserts a unique marker, so that only one commit can cancel, replace or end a subscription. */
export const endMarker = ({ db }: DatabaseCtx, { id, cancelledAt }: SubscriptionRow) =>
  cancelledAt === null ? [db.insert(appliedFacts).values({ name: overName(id), appliedAt: Date.now() })] : [];
