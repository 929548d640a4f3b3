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
