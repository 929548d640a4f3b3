import { and, eq, gte, inArray } from 'drizzle-orm';
import type { DatabaseCtx } from '../../db/ctx.ts';
import { accounts, isLive, isPending, payments, type PaymentRow, subscriptions } from '../../db/schema.ts';
import { type Books, isSettled, paidBy } from '../rules/books.ts';
import type { Fact, ProviderName } from '../rules/fact.ts';

const findSubscription = async ({ db }: DatabaseCtx, provider: ProviderName, ref: string) => {
  const [row] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.provider, provider), eq(subscriptions.providerRef, ref)));
  return row ?? null;
};

const findPayment = async ({ db }: DatabaseCtx, id: string): Promise<PaymentRow | null> => {
  const [row] = await db.select().from(payments).where(eq(payments.id, id));
  return row ?? null;
};

/** The payment of ours that the fact names: only the first invoice of a subscription has one at the provider. */
const paymentIdOf = (fact: Fact) => ('paymentId' in fact ? fact.paymentId : null);

const invoiceRefOf = (fact: Fact): string | null => {
  if (fact.kind === 'terms') return fact.failingRef;
  return fact.kind === 'ended' ? null : fact.invoiceRef;
};

/** Reads what a decision on the fact needs. Returns null if the fact is about no account of this database. */
export const loadBooks = async (
  ctx: DatabaseCtx,
  provider: ProviderName,
  fact: Fact,
): Promise<{ accountId: string; books: Books } | null> => {
  const { db } = ctx;
  const paymentId = paymentIdOf(fact);
  const [subscription, named] = await Promise.all([
    findSubscription(ctx, provider, fact.subscriptionRef),
    paymentId === null ? null : findPayment(ctx, paymentId),
  ]);
  const accountId = subscription?.accountId ?? named?.accountId;
  if (accountId === undefined) return null;
  const ofAccount = eq(payments.accountId, accountId);
  const invoiceRef = invoiceRefOf(fact);
  const isInvoice = and(
    ofAccount,
    eq(payments.provider, provider),
    eq(payments.checkoutRef, invoiceRef ?? ''),
  );
  const [[account], [live = null], [invoiced = null], [pending = null]] = await db.batch([
    db.select({ eraseAt: accounts.eraseAt }).from(accounts).where(eq(accounts.id, accountId)),
    db
      .select()
      .from(subscriptions)
      .where(and(eq(subscriptions.accountId, accountId), isLive)),
    db.select().from(payments).where(isInvoice).limit(1),
    db.select().from(payments).where(and(ofAccount, isPending)),
  ]);
  const periods = [subscription, live].filter((row) => row !== null);
  const current = await db
    .select()
    .from(payments)
    .where(
      and(
        ofAccount,
        inArray(
          payments.subscriptionId,
          periods.map(({ id }) => id),
        ),
        gte(payments.periodEnd, Math.min(...periods.map(({ periodEnd }) => periodEnd))),
      ),
    );
  const isCurrent = (row: PaymentRow) =>
    isSettled(row) &&
    periods.some(({ id, periodEnd }) => id === row.subscriptionId && (row.periodEnd ?? 0) >= periodEnd);
  const books: Books = {
    nowMs: Date.now(),
    isLeaving: (account?.eraseAt ?? null) !== null,
    provider,
    live,
    subscription,
    payment: fact.kind === 'bought' ? named : (invoiced ?? paidBy(invoiceRef, named)),
    current: current.filter(isCurrent),
    change: subscription && pending?.subscriptionId === subscription.id ? pending : null,
  };
  return { accountId, books };
};
