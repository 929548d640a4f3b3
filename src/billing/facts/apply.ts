import { and, eq, inArray, sql } from 'drizzle-orm';
import { audit } from '../../audit/audit.ts';
import type { Ctx, DatabaseCtx } from '../../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../../db/errors.ts';
import {
  accounts,
  appliedFacts,
  isUnpaid,
  type PaymentRow,
  payments,
  subscriptions,
} from '../../db/schema.ts';
import { eventChange } from '../../gate/feed/write.ts';
import { commit } from '../../gate/worker/commit.ts';
import { AppError } from '../../shared/app-error.ts';
import { SYSTEM } from '../../shared/rules/audit.ts';
import { newEvent } from '../../shared/text/events.ts';
import { logError, logLine } from '../../shared/text/log.ts';
import { releaseMails } from '../../stores/work.ts';
import type { CurrentState, Provider, Subject } from '../provider/provider.ts';
import { type Books, type Decision, isSettled } from '../rules/books.ts';
import { decide } from '../rules/decide.ts';
import { type Fact, toFactNames } from '../rules/fact.ts';
import { loadBooks } from './load-books.ts';
import { markDue } from './mark-due.ts';
import { writeDecision } from './write-decision.ts';

// Each fact has a unique name, which is inserted in the same commit as the fact's effect. A fact is therefore
// applied exactly once, even if notifications repeat or arrive out of order.

/** Whether a concurrent commit has changed what the effect was decided on. */
const isConflict = (error: unknown) =>
  violatesUnique(error, 'applied_facts.name') ||
  violatesNotNull(error, 'applied_facts.name') ||
  violatesUnique(error, 'subscriptions.account_id');

const MAX_ATTEMPTS = 3;

const toChanges = async ({ db }: DatabaseCtx, { accountId, events }: Decision) => {
  const [account] = await db
    .select({ email: accounts.email })
    .from(accounts)
    .where(eq(accounts.id, accountId));
  const nowMs = Date.now();
  return events.map(({ name, fields }) =>
    eventChange(newEvent(name, nowMs, { ...fields, customer_email: account?.email ?? '' })),
  );
};

/** The context may be that of a request, whose Idempotency-Key is for what it asks itself. */
const asSystem = ({ env, db }: DatabaseCtx, accountId: string): Ctx => ({
  env,
  db,
  accountId,
  key: null,
  actor: SYSTEM,
  ip: null,
});

/** What was read of the terms earlier, and is applied later, must not undo what is known, also if that was nothing new. */
const noteRead = async ({ db }: DatabaseCtx, { subscription: row }: Books, fact: Fact): Promise<void> => {
  if (fact.kind !== 'terms' || !row || row.readAt >= fact.readAtMs) return;
  await db
    .update(subscriptions)
    .set({ readAt: sql`max(${subscriptions.readAt}, ${fact.readAtMs})` })
    .where(eq(subscriptions.id, row.id));
};

/** Ends a checkout whose payment would buy nothing. If it was paid meanwhile, that is given back, and told of, by itself. */
const endCheckout = async (ctx: DatabaseCtx, provider: Provider, { id, checkoutRef }: PaymentRow) => {
  if (checkoutRef !== null) await provider.endCheckout(checkoutRef);
  await ctx.db
    .update(payments)
    .set({ checkoutRef: null, expireDueAt: null, refundDueAt: null })
    .where(and(eq(payments.id, id), isUnpaid));
};

/**
 * Gives back a payment that buys nothing, and tells so. It follows the commit: a refund that the provider refuses holds up no
 * plan, and the scheduled work makes it later. A repeat gives nothing more back.
 */
export const giveBack = async (ctx: DatabaseCtx, provider: Provider, payment: PaymentRow): Promise<void> => {
  if (!isSettled(payment)) return endCheckout(ctx, provider, payment);
  const { id, accountId, subscriptionId, checkoutRef, amount, currency, periodEnd } = payment;
  if (checkoutRef !== null) await provider.refund(checkoutRef);
  const [row] = await ctx.db
    .select({ ref: subscriptions.providerRef })
    .from(subscriptions)
    .where(and(eq(subscriptions.id, subscriptionId ?? ''), eq(subscriptions.accountId, accountId)));
  const about = { paymentId: id, subscriptionRef: row?.ref ?? '', invoiceRef: checkoutRef ?? id, currency };
  await applyFact(ctx, provider, { kind: 'refunded', ...about, amount, untilMs: periodEnd ?? 0 });
  await ctx.db.update(payments).set({ refundDueAt: null }).where(eq(payments.id, id));
};

const giveBackDue = async (ctx: DatabaseCtx, provider: Provider, { payments: rows }: Decision) => {
  for (const row of rows) {
    if (row.refundDueAt === null) continue;
    await giveBack(ctx, provider, row).catch((error: unknown) =>
      logError('payment_not_refunded', error, { account_id: row.accountId, payment_id: row.id }),
    );
  }
};

/** Applies a fact that hasn't been applied yet. Returns whether it changed anything. */
export const applyFact = async (ctx: DatabaseCtx, provider: Provider, fact: Fact): Promise<boolean> => {
  const [name, ...later] = toFactNames(provider.name, fact);
  const isApplied = inArray(appliedFacts.name, [name, ...later]);
  for (let attempt = 1; ; attempt++) {
    const [applied] = await ctx.db.select().from(appliedFacts).where(isApplied).limit(1);
    if (applied) return false;
    const loaded = await loadBooks(ctx, provider.name, fact);
    const decision = loaded && decide(loaded.books, fact);
    if (!decision) {
      if (loaded) await noteRead(ctx, loaded.books, fact);
      // Most notifications change nothing of a subscription's terms.
      if (fact.kind !== 'terms') logLine('info', { event: 'payment_fact_ignored', fact: name });
      return false;
    }
    const { accountId, entry } = decision;
    const account = asSystem(ctx, accountId);
    const books = await markDue(ctx, loaded.books, decision);
    if (!books) {
      if (attempt === MAX_ATTEMPTS) throw new AppError('unavailable');
      continue;
    }
    // Before the commit, so that on failure the notification is sent again. A repeat changes nothing.
    for (const ref of decision.cancels) await provider.cancel(ref, 'now');
    const { condition, statements } = writeDecision(ctx, books, decision);
    // The name is null if the condition no longer holds, which the column refuses.
    const nameIfTrue = sql<string>`iif(${condition}, ${name}, NULL)`;
    const insertName = ctx.db.insert(appliedFacts).values({ name: nameIfTrue, appliedAt: Date.now() });
    try {
      await commit(
        account,
        [
          insertName,
          ...statements,
          ...(entry ? [audit(account, entry.action, entry.target, entry.details)] : []),
        ],
        [{ kind: 'account', ref: accountId }, ...(await toChanges(ctx, decision))],
      );
    } catch (error) {
      if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error;
      continue;
    }
    await giveBackDue(ctx, provider, decision);
    await releaseMails(ctx.env, accountId);
    return true;
  }
};

/** Asks the provider for the current state, and applies it. */
export const applyState = async (
  ctx: DatabaseCtx,
  provider: Provider,
  subject: Subject,
): Promise<CurrentState> => {
  const state = await provider.readState(subject);
  for (const fact of state.facts) await applyFact(ctx, provider, fact);
  return state;
};
