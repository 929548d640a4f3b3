import { eq } from 'drizzle-orm';
import type { PublicCtx } from '../db/ctx.ts';
import { violatesUnique } from '../db/errors.ts';
import { appliedFacts } from '../db/schema.ts';
import { commit } from '../gate/feed.ts';
import { logLine } from '../shared/log.ts';
import { effectOf } from './effects.ts';
import type { Fact, Provider, ProviderName } from './provider.ts';

// A fact is committed with its own name as a primary key, so that it happens once however often and in
// whatever order it is told.

const nameOf = (provider: ProviderName, fact: Fact): string => {
  switch (fact.kind) {
    case 'paid':
      return `${provider}:paid:${fact.paymentId}`;
    case 'renewed':
      return `${provider}:renewed:${fact.invoiceRef}`;
    case 'payment_failed':
      return `${provider}:payment_failed:${fact.invoiceRef}`;
    case 'ended':
    default:
      return `${provider}:ended:${fact.subscriptionRef}`;
  }
};

/** Somebody else has changed what this was decided on. */
const isOvertaken = (error: unknown) =>
  violatesUnique(error, 'applied_facts.name') || violatesUnique(error, 'subscriptions.account_id');

const ATTEMPTS = 3;

/** Applies a fact unless it has been; true if it changed anything. */
export const applyFact = async (ctx: PublicCtx, provider: Provider, fact: Fact): Promise<boolean> => {
  const name = nameOf(provider.name, fact);
  for (let attempt = 1; ; attempt++) {
    const [known] = await ctx.db.select().from(appliedFacts).where(eq(appliedFacts.name, name));
    if (known) return false;
    const effect = await effectOf(ctx, provider, fact);
    if (!effect) {
      logLine('info', { event: 'fact_of_nothing_here', fact: name });
      return false;
    }
    const { accountId, statements, changes } = effect;
    await effect.before?.();
    const claim = ctx.db.insert(appliedFacts).values({ name, appliedAt: Date.now() });
    try {
      await commit(
        { ...ctx, accountId, key: null },
        [claim, ...statements],
        [{ kind: 'account', ref: accountId }, ...changes],
      );
      return true;
    } catch (error) {
      if (!isOvertaken(error) || attempt === ATTEMPTS) throw error;
    }
  }
};
