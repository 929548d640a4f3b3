import { eq, inArray, sql } from 'drizzle-orm';
import { audit } from '../audit/audit.ts';
import type { Ctx, DatabaseCtx } from '../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../db/errors.ts';
import { accounts, appliedFacts } from '../db/schema.ts';
import { eventChange } from '../gate/feed/write.ts';
import { commit } from '../gate/worker/feed.ts';
import { SYSTEM } from '../shared/rules/audit.ts';
import { newEvent } from '../shared/text/events.ts';
import { logLine } from '../shared/text/log.ts';
import type { Decision } from './books.ts';
import { decide } from './decide.ts';
import { toFactNames } from './fact-name.ts';
import { loadBooks } from './load-books.ts';
import type { CurrentState, Fact, Provider, Subject } from './provider.ts';
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

/** Runs before the commit, so that on failure the notification is sent again. A repeat changes nothing. */
const callProvider = async (provider: Provider, { cancels, refunds }: Decision): Promise<void> => {
  for (const ref of cancels) await provider.cancel(ref, 'now');
  for (const ref of refunds) await provider.refund(ref);
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
      // Most notifications change nothing of a subscription's terms.
      if (fact.kind !== 'terms') logLine('info', { event: 'payment_fact_ignored', fact: name });
      return false;
    }
    const { accountId, entry } = decision;
    // The context may be that of a request, whose Idempotency-Key is for what it asks itself.
    const { env, db } = ctx;
    const account: Ctx = { env, db, accountId, key: null, actor: SYSTEM, ip: null };
    await callProvider(provider, decision);
    const { condition, statements } = writeDecision(ctx, loaded.books, decision);
    // The name is null if the condition no longer holds, which the column refuses.
    const nameIfTrue = sql<string>`iif(${condition}, ${name}, NULL)`;
    const insertName = ctx.db.insert(appliedFacts).values({ name: nameIfTrue, appliedAt: Date.now() });
    try {
      await commit(
        account,
        [insertName, ...statements, audit(account, entry.action, entry.target, entry.details)],
        [{ kind: 'account', ref: accountId }, ...(await toChanges(ctx, decision))],
      );
      return true;
    } catch (error) {
      if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error;
    }
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
