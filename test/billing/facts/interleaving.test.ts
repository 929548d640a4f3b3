import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { applyFact } from '../../../src/billing/facts/apply.ts';
import { findProvider } from '../../../src/billing/provider/providers.ts';
import type { Fact } from '../../../src/billing/rules/fact.ts';
import { addMonths } from '../../../src/shared/rules/dates.ts';
import { ORIGIN, signUp } from '../../support/client.ts';
import { ctxOf } from '../../support/databases.ts';
import { begin, billingRowsOf, press } from '../sandbox.ts';

test('a failed payment that is committed after the renewal by the same invoice changes nothing', async () => {
  const ada = await signUp();
  const { payment_id, checkout_url } = await begin(ada);
  await press(checkout_url, 'paid');
  const provider = (await findProvider(env, 'sandbox', ORIGIN))!;
  const startMs = addMonths(Date.now(), 1);
  const about = {
    subscriptionRef: `sandbox_${payment_id}`,
    invoiceRef: `in_${payment_id}`,
    period: { startMs, endMs: addMonths(startMs, 1) },
  };
  const failed: Fact = {
    kind: 'terms',
    subscriptionRef: about.subscriptionRef,
    plan: null,
    endsAtMs: null,
    failingRef: about.invoiceRef,
    period: about.period,
    readAtMs: startMs,
  };
  const renewed: Fact = {
    kind: 'settled',
    paymentId: null,
    ...about,
    amount: 2_900,
    currency: 'usd',
    paidAtMs: startMs,
    plan: null,
  };

  // The renewal is applied between the failed payment's reads and its commit.
  const ctx = ctxOf(ada.accountId);
  const batch = ctx.db.batch.bind(ctx.db);
  const slowBatch = vi.spyOn(ctx.db, 'batch').mockImplementationOnce(async (statements) => {
    expect(await applyFact(ctx, provider, renewed)).toBe(true);
    return batch(statements);
  });
  await applyFact(ctx, provider, failed);

  expect(slowBatch).toHaveBeenCalled();
  expect(await billingRowsOf(ada.accountId)).toMatchObject({
    account: [{ plan: 'pro', period_start: startMs, plan_until: null }],
    subscriptions: [{ status: 'active', period_start: startMs }],
    payments: [{ status: 'paid' }, { status: 'paid' }],
  });
});
