import { and, eq, inArray, ne } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { Database } from '../db/client.ts';
import { violatesUnique } from '../db/errors.ts';
import { accounts, appliedFacts, isLive, payments, subscriptions } from '../db/schema.ts';
import { announces, type Change, commit } from '../gate/feed.ts';
import { DAY_MS } from '../shared/clock.ts';
import { newEvent } from '../shared/events.ts';
import { newId } from '../shared/ids.ts';
import { logLine } from '../shared/log.ts';
import type { Fact, Provider, ProviderName } from './provider.ts';

// What a fact changes: in one commit with the fact's own name as a primary key, so that it happens once
// however often and in whatever order it is told.

/** How long the paid limits hold after a payment has failed. */
const GRACE_MS = 7 * DAY_MS;

interface Place {
  env: Env;
  db: Database;
}

interface Effect {
  accountId: string;
  /** At the provider, and before the commit: if it fails, the notification comes again. */
  before?: () => Promise<void>;
  statements: BatchItem<'sqlite'>[];
  changes: Change[];
}

const emailOf = async ({ db }: Place, accountId: string): Promise<string> => {
  const [account] = await db
    .select({ email: accounts.email })
    .from(accounts)
    .where(eq(accounts.id, accountId));
  return account?.email ?? '';
};

const subscriptionOf = async ({ db }: Place, provider: ProviderName, ref: string) => {
  const [row] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.provider, provider), eq(subscriptions.providerRef, ref)));
  return row ?? null;
};

const paid = async (
  place: Place,
  provider: Provider,
  fact: Extract<Fact, { kind: 'paid' }>,
): Promise<Effect | null> => {
  const { db } = place;
  const [payment] = await db.select().from(payments).where(eq(payments.id, fact.paymentId));
  // Without it: a payment of another service at the same provider.
  if (!payment || payment.provider !== provider.name) return null;
  const { accountId, plan } = payment;
  const [before] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.accountId, accountId), isLive));
  const nowMs = Date.now();
  const { startMs: periodStart, endMs: periodEnd } = fact.term;
  return {
    accountId,
    // An upgrade: nobody pays for two plans.
    ...(before?.provider === provider.name && { before: () => provider.cancel(before.providerRef, 'now') }),
    statements: [
      db.update(payments).set({ status: 'paid', paidAt: nowMs }).where(eq(payments.id, payment.id)),
      db
        .update(subscriptions)
        .set({ status: 'ended', updatedAt: nowMs })
        .where(and(eq(subscriptions.accountId, accountId), isLive)),
      db.insert(subscriptions).values({
        id: newId('sub'),
        accountId,
        provider: provider.name,
        providerRef: fact.subscriptionRef,
        plan,
        status: 'active',
        periodStart,
        periodEnd,
        createdAt: nowMs,
        updatedAt: nowMs,
      }),
      db
        .update(accounts)
        .set({
          plan,
          periodStart,
          periodEnd,
          planUntil: null,
          ...(fact.customerRef && { customerRef: fact.customerRef }),
        })
        .where(eq(accounts.id, accountId)),
    ],
    changes: [
      announces(
        newEvent('payment.success', nowMs, {
          payment_id: payment.id,
          plan,
          amount: payment.amount,
          currency: payment.currency,
          customer_email: await emailOf(place, accountId),
        }),
      ),
    ],
  };
};

const renewed = async (
  place: Place,
  provider: ProviderName,
  fact: Extract<Fact, { kind: 'renewed' }>,
): Promise<Effect | null> => {
  const { db } = place;
  const subscription = await subscriptionOf(place, provider, fact.subscriptionRef);
  if (!subscription) return null;
  const { accountId, plan, id } = subscription;
  const nowMs = Date.now();
  const { startMs: periodStart, endMs: periodEnd } = fact.term;
  const payment = {
    id: newId('pay'),
    accountId,
    provider,
    plan,
    status: 'paid' as const,
    amount: fact.amount,
    currency: fact.currency,
    checkoutRef: fact.invoiceRef,
    createdAt: nowMs,
    paidAt: nowMs,
  };
  return {
    accountId,
    statements: [
      db.insert(payments).values(payment),
      db
        .update(subscriptions)
        .set({ status: 'active', periodStart, periodEnd, updatedAt: nowMs })
        .where(and(eq(subscriptions.id, id), inArray(subscriptions.status, ['active', 'past_due']))),
      db
        .update(accounts)
        .set({ periodStart, periodEnd, planUntil: null })
        .where(and(eq(accounts.id, accountId), eq(accounts.plan, plan))),
    ],
    changes: [
      announces(
        newEvent('payment.success', nowMs, {
          payment_id: payment.id,
          plan,
          amount: fact.amount,
          currency: fact.currency,
          customer_email: await emailOf(place, accountId),
        }),
      ),
    ],
  };
};

const paymentFailed = async (
  place: Place,
  provider: ProviderName,
  fact: Extract<Fact, { kind: 'payment_failed' }>,
): Promise<Effect | null> => {
  const { db } = place;
  const subscription = await subscriptionOf(place, provider, fact.subscriptionRef);
  if (subscription?.status !== 'active') return null;
  const { accountId, id } = subscription;
  return {
    accountId,
    statements: [
      db
        .update(subscriptions)
        .set({ status: 'past_due', updatedAt: Date.now() })
        .where(and(eq(subscriptions.id, id), eq(subscriptions.status, 'active'))),
      db
        .update(accounts)
        .set({ planUntil: fact.atMs + GRACE_MS })
        .where(eq(accounts.id, accountId)),
    ],
    changes: [],
  };
};

const ended = async (
  place: Place,
  provider: ProviderName,
  fact: Extract<Fact, { kind: 'ended' }>,
): Promise<Effect | null> => {
  const { db } = place;
  const subscription = await subscriptionOf(place, provider, fact.subscriptionRef);
  if (!subscription || subscription.status === 'ended') return null;
  const { accountId, id, plan, cancelledAt } = subscription;
  const nowMs = Date.now();
  const word = newEvent('subscription.cancelled', nowMs, {
    subscription_id: id,
    plan,
    ends_at: new Date(fact.atMs).toISOString(),
    customer_email: await emailOf(place, accountId),
  });
  return {
    accountId,
    statements: [
      db
        .update(subscriptions)
        .set({ status: 'ended', endsAt: fact.atMs, cancelledAt: cancelledAt ?? nowMs, updatedAt: nowMs })
        .where(and(eq(subscriptions.id, id), ne(subscriptions.status, 'ended'))),
      db.update(accounts).set({ planUntil: fact.atMs }).where(eq(accounts.id, accountId)),
    ],
    // Who cancelled here has been told already.
    changes: cancelledAt === null ? [announces(word)] : [],
  };
};

const nameOf = (provider: ProviderName, fact: Fact): string => {
  switch (fact.kind) {
    case 'paid':
      return `${provider}:paid:${fact.paymentId}`;
    case 'renewed':
      return `${provider}:renewed:${fact.invoiceRef}`;
    case 'payment_failed':
      return `${provider}:payment_failed:${fact.invoiceRef}`;
    case 'ended':
      return `${provider}:ended:${fact.subscriptionRef}`;
  }
};

const effectOf = (place: Place, provider: Provider, fact: Fact): Promise<Effect | null> => {
  switch (fact.kind) {
    case 'paid':
      return paid(place, provider, fact);
    case 'renewed':
      return renewed(place, provider.name, fact);
    case 'payment_failed':
      return paymentFailed(place, provider.name, fact);
    case 'ended':
      return ended(place, provider.name, fact);
  }
};

/** Applies a fact unless it has been; true if it changed anything. */
export const applyFact = async (place: Place, provider: Provider, fact: Fact): Promise<boolean> => {
  const name = nameOf(provider.name, fact);
  const [known] = await place.db.select().from(appliedFacts).where(eq(appliedFacts.name, name));
  if (known) return false;
  const effect = await effectOf(place, provider, fact);
  if (!effect) {
    logLine('info', { event: 'fact_of_nothing_here', fact: name });
    return false;
  }
  const { accountId, statements, changes } = effect;
  await effect.before?.();
  const claim = place.db.insert(appliedFacts).values({ name, appliedAt: Date.now() });
  try {
    await commit(
      { ...place, accountId },
      [claim, ...statements],
      [{ kind: 'account', ref: accountId }, ...changes],
    );
    return true;
  } catch (error) {
    // Told twice at once: the other one has done it.
    if (violatesUnique(error, 'applied_facts.name')) return false;
    throw error;
  }
};
