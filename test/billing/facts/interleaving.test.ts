import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { findChanged } from '../../../src/billing/billing.ts';
import { cancelSubscription } from '../../../src/billing/cancel-subscription.ts';
import { applyFact } from '../../../src/billing/facts/apply.ts';
import { findProvider } from '../../../src/billing/provider/providers.ts';
import type { Fact } from '../../../src/billing/rules/fact.ts';
import { AccountGate } from '../../../src/gate/home/account-gate.ts';
import { once } from '../../../src/gate/worker/commit.ts';
import { AppError } from '../../../src/shared/app-error.ts';
import { addMonths } from '../../../src/shared/rules/dates.ts';
import { ORIGIN, signUp } from '../../support/client.ts';
import { doBefore } from '../../support/d1-queries.ts';
import { accountsD1, ctxOf } from '../../support/databases.ts';
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

test('a cancellation that a notification of the provider overtakes answers once every verify sees it, and only once', async () => {
  const ada = await signUp();
  const { license_key } = await ada.createLicense();
  const limit = async () => (await ada.verify(license_key)).body.api_limit;
  const { payment_id, checkout_url } = await begin(ada);
  await press(checkout_url, 'paid');
  expect(await limit()).toBe(100_000);
  const provider = (await findProvider(env, 'sandbox', ORIGIN))!;
  const ended: Fact = { kind: 'ended', subscriptionRef: `sandbox_${payment_id}`, atMs: Date.now() };

  const idempotency = { key: 'leave', requestHash: 'hash', atMs: Date.now(), onRepeat: vi.fn<() => void>() };
  const ctx = { ...ctxOf(ada.accountId), idempotency };
  const cancel = () =>
    once(
      ctx,
      () => cancelSubscription(ctx, 'now'),
      (id) => findChanged(ctx, id),
    );
  // The notification is committed between the cancellation's reads and its commit, and the gate hears nothing of it.
  const batch = ctx.db.batch.bind(ctx.db);
  const overtaken = vi.spyOn(ctx.db, 'batch').mockImplementationOnce(async (statements) => {
    const cut = (['apply', 'pull'] as const).map((name) =>
      vi.spyOn(AccountGate.prototype, name).mockRejectedValue(new Error('The gate is cut off.')),
    );
    await expect(applyFact(ctx, provider, ended)).rejects.toThrow(AppError);
    for (const spy of cut) spy.mockRestore();
    return batch(statements);
  });
  const first = await cancel();
  expect(overtaken).toHaveBeenCalled();
  expect(await limit()).toBe(1_000);
  expect(await cancel()).toEqual(first);
  expect(idempotency.onRepeat).toHaveBeenCalledOnce();
});

/** A plan whose period was paid with two invoices: the first one, and one for an upgrade. */
const withUpgrade = async () => {
  const ada = await signUp();
  const { payment_id, checkout_url } = await begin(ada);
  await press(checkout_url, 'paid');
  const provider = (await findProvider(env, 'sandbox', ORIGIN))!;
  const ctx = ctxOf(ada.accountId);
  const startMs = Date.now();
  const about = { subscriptionRef: `sandbox_${payment_id}`, paymentId: null, currency: 'usd' };
  const base = { ...about, invoiceRef: payment_id as string, amount: 2_900 };
  const upgrade = { ...about, invoiceRef: `in_${payment_id}`, amount: 16_450 };
  const untilMs = (await accountsD1
    .prepare('SELECT period_end FROM subscriptions WHERE account_id = ?')
    .bind(ada.accountId)
    .first<number>('period_end'))!;
  const period = { startMs, endMs: untilMs };
  await applyFact(ctx, provider, { kind: 'settled', ...upgrade, paidAtMs: startMs, plan: 'scale', period });
  return {
    ada,
    invoices: [
      { ...base, untilMs },
      { ...upgrade, untilMs },
    ] as const,
    apply: (fact: Fact) => applyFact(ctx, provider, fact),
    /** Commits the second fact between the reads of the first one and its commit. */
    applyBoth: async (first: Fact, second: Fact) => {
      const hasHappened = doBefore(/insert into "applied_facts"/, () => applyFact(ctx, provider, second));
      await applyFact(ctx, provider, first);
      expect(hasHappened()).toBe(true);
    },
  };
};

test('refunding both payments of a period at the same time ends the plan', async () => {
  const { ada, invoices, applyBoth } = await withUpgrade();
  const [base, upgrade] = invoices;
  await applyBoth({ kind: 'refunded', ...base }, { kind: 'refunded', ...upgrade });
  expect(await billingRowsOf(ada.accountId)).toMatchObject({
    account: [{ plan_until: expect.any(Number) }],
    subscriptions: [{ status: 'ended' }],
    payments: [{ status: 'refunded' }, { status: 'refunded' }],
  });
});

test('winning the disputes of both payments of a period at the same time gives the plan back', async () => {
  const { ada, invoices, apply, applyBoth } = await withUpgrade();
  const disputed = (state: 'open' | 'won') =>
    invoices.map((invoice) => ({
      kind: 'disputed' as const,
      ...invoice,
      state,
      disputeRef: `dp_${invoice.invoiceRef}`,
    }));
  for (const fact of disputed('open')) await apply(fact);
  expect(await billingRowsOf(ada.accountId)).toMatchObject({ subscriptions: [{ status: 'past_due' }] });
  const [first, second] = disputed('won');
  await applyBoth(first!, second!);
  expect(await billingRowsOf(ada.accountId)).toMatchObject({
    account: [{ plan_until: null }],
    subscriptions: [{ status: 'active' }],
    payments: [{ status: 'paid' }, { status: 'paid' }],
  });
});
