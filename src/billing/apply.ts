import { eq, sql } from 'drizzle-orm';
import { audit } from '../audit/audit.ts';
import type { Ctx, DatabaseCtx } from '../db/ctx.ts';
import { violatesNotNull, violatesUnique } from '../db/errors.ts';
import { appliedFacts } from '../db/schema.ts';
import { commit } from '../gate/worker/feed.ts';
import { SYSTEM } from '../shared/rules/audit.ts';
import { logLine } from '../shared/text/log.ts';
import { computeEffect } from './effects.ts';
import { toFactName } from './fact-name.ts';
import type { CurrentState, Fact, Provider, Subject } from './provider.ts';

// Each fact has a unique name, which is inserted in the same commit as the fact's effect. A fact is therefore
// applied exactly once, even if notifications repeat or arrive out of order.

/** Whether a concurrent commit has changed the state that the effect was computed from. */
const isConflict = (error: unknown) =>
  violatesUnique(error, 'applied_facts.name') ||
  violatesNotNull(error, 'applied_facts.name') ||
  violatesUnique(error, 'subscriptions.account_id');

const MAX_ATTEMPTS = 3;

/** Applies a fact that hasn't been applied yet. Returns whether it changed anything. */
export const applyFact = async (ctx: DatabaseCtx, provider: Provider, fact: Fact): Promise<boolean> => {
  const name = toFactName(provider.name, fact);
  for (let attempt = 1; ; attempt++) {
    const [applied] = await ctx.db.select().from(appliedFacts).where(eq(appliedFacts.name, name));
    if (applied) return false;
    const effect = await computeEffect(ctx, provider, fact);
    if (!effect) {
      logLine('info', { event: 'payment_fact_ignored', fact: name });
      return false;
    }
    const { accountId, condition = sql`TRUE`, statements, changes, entry } = effect;
    const account: Ctx = { ...ctx, accountId, key: null, actor: SYSTEM, ip: null };
    await effect.beforeCommit?.();
    // The name is null if the condition no longer holds, which the column refuses.
    const nameIfTrue = sql<string>`iif(${condition}, ${name}, NULL)`;
    const insertName = ctx.db.insert(appliedFacts).values({ name: nameIfTrue, appliedAt: Date.now() });
    try {
      await commit(
        account,
        [insertName, ...statements, audit(account, entry.action, entry.target, entry.details)],
        [{ kind: 'account', ref: accountId }, ...changes],
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
