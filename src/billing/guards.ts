import { and, eq, exists, notExists, type SQL } from 'drizzle-orm';
import type { DatabaseCtx } from '../db/ctx.ts';
import { appliedFacts, isLive, payments, type SubscriptionRow, subscriptions } from '../db/schema.ts';
import { accounts } from '../db/schema.ts';
import { renewalName } from './fact-name.ts';
import type { ProviderName } from './provider.ts';

// Guards against concurrent changes of the same subscription.

/** Matches the account only while the subscription is live, because another one may have replaced it. */
export const accountWhileLive = (
  { db }: DatabaseCtx,
  accountId: string,
  subscriptionId: string,
  condition: SQL | undefined = isLive,
) =>
  and(
    eq(accounts.id, accountId),
    exists(
      db
        .select({ id: subscriptions.id })
        .from(subscriptions)
        .where(and(eq(subscriptions.id, subscriptionId), condition)),
    ),
  );

/** Matches an active subscription unless the invoice has been paid since its failed payment was reported. */
export const activeAndUnpaid = ({ db }: DatabaseCtx, provider: ProviderName, invoiceRef: string) =>
  and(
    eq(subscriptions.status, 'active'),
    notExists(
      db
        .select({ name: appliedFacts.name })
        .from(appliedFacts)
        .where(eq(appliedFacts.name, renewalName(provider, invoiceRef))),
    ),
  );

/** The name of the marker that a subscription was canceled, replaced or ended. */
export const overName = (subscriptionId: string) => `over:${subscriptionId}`;

/** Inserts a unique marker, so that only one commit can cancel, replace or end a subscription. */
export const endMarker = ({ db }: DatabaseCtx, { id, cancelledAt }: SubscriptionRow) =>
  cancelledAt === null ? [db.insert(appliedFacts).values({ name: overName(id), appliedAt: Date.now() })] : [];

/** Whether the invoice has renewed the subscription, even if the name of that fact has been pruned. */
export const isRenewalRecorded = async (
  { db }: DatabaseCtx,
  { accountId, provider }: SubscriptionRow,
  invoiceRef: string,
): Promise<boolean> => {
  const isRenewal = and(
    eq(payments.accountId, accountId),
    eq(payments.provider, provider),
    eq(payments.checkoutRef, invoiceRef),
  );
  return (await db.select({ id: payments.id }).from(payments).where(isRenewal).limit(1)).length > 0;
};
