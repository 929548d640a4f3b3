import { createHmac } from 'node:crypto';
import * as z from 'zod';
import type { PaymentRow } from '../../db/schema.ts';
import { settingsOf } from '../../shared/config/settings.ts';
import { equalInConstantTime } from '../../shared/crypto/hash.ts';
import { addMonths } from '../../shared/rules/dates.ts';
import { CURRENCY, PLANS } from '../../shared/rules/plans.ts';
import { newId } from '../../shared/text/ids.ts';
import type { Fact } from '../rules/fact.ts';
import { plannedEnd, type Provider, type Subject } from './provider.ts';

// Simulates a payment provider without moving money. Its checkout is a page of this Worker.

const SIGNATURE_HEADER = 'sandbox-signature';

const notificationBody = z.object({
  id: z.string(),
  type: z.enum(['checkout.paid', 'checkout.declined']),
  payment_id: z.string(),
  account_id: z.string(),
  at_ms: z.number(),
});

/** Whether the service takes real payments, so that no plan of the sandbox may go on. */
export const isLiveService = (env: Env): boolean => {
  const { payments, allowsSandboxAnywhere } = settingsOf(env);
  return payments === 'stripe' && !allowsSandboxAnywhere;
};

const sign = (env: Env, body: string) =>
  createHmac('sha256', `sandbox ${settingsOf(env).apiKeySecrets[0]}`)
    .update(body)
    .digest('base64url');

/** Returns the signed notification that the sandbox sends when a checkout completes. */
export const sandboxNotification = (
  env: Env,
  payment: Pick<PaymentRow, 'id' | 'accountId'>,
  outcome: 'paid' | 'declined',
) => {
  const body = JSON.stringify({
    id: newId('evt'),
    type: `checkout.${outcome}`,
    payment_id: payment.id,
    account_id: payment.accountId,
    at_ms: Date.now(),
  } satisfies z.infer<typeof notificationBody>);
  return { body, headers: new Headers({ [SIGNATURE_HEADER]: sign(env, body) }) };
};

/** A plan that nobody has paid for ends once the service takes real payments. */
const endWhenLive = (env: Env, subject: Subject): Fact[] =>
  subject.kind === 'subscription' && isLiveService(env)
    ? [{ kind: 'ended', subscriptionRef: subject.ref, atMs: Date.now() }]
    : [];

export const sandbox = (env: Env): Provider => ({
  name: 'sandbox',
  startCheckout: ({ origin, paymentId }) =>
    Promise.resolve({ checkoutUrl: `${origin}/checkout/${paymentId}`, checkoutRef: paymentId }),
  expireCheckout: () => Promise.resolve(),
  endCheckout: () => Promise.resolve(),
  cancel: () => Promise.resolve(),
  refund: () => Promise.resolve(),
  resume: () => Promise.resolve(true),
  change: null,
  // It knows no cards and no invoices, so the dashboard's own page shows what there is.
  portal: (_customerRef, returnUrl) => Promise.resolve(returnUrl),
  price: (plan) => Promise.resolve({ amount: PLANS[plan].amount, currency: CURRENCY }),
  // Paying in the sandbox applies the notification before it answers, so only a planned end can be missing.
  readState: (subject) => {
    const planned = plannedEnd(subject);
    const facts = planned.length > 0 ? planned : endWhenLive(env, subject);
    return Promise.resolve({ facts, checkout: 'open' });
  },
  readNotification: (body, headers) => {
    if (!equalInConstantTime(sign(env, body), headers.get(SIGNATURE_HEADER) ?? ''))
      return Promise.resolve(null);
    const { id, type, payment_id, account_id, at_ms } = notificationBody.parse(JSON.parse(body));
    const paid: Fact = {
      kind: 'bought',
      paymentId: payment_id,
      subscriptionRef: `sandbox_${payment_id}`,
      customerRef: null,
      invoiceRef: null,
      charged: null,
      isTooLate: false,
      period: { startMs: at_ms, endMs: addMonths(at_ms, 1) },
      untilMs: addMonths(at_ms, 1),
    };
    return Promise.resolve({
      id,
      type,
      accountId: account_id,
      facts: type === 'checkout.paid' ? [paid] : [],
    });
  },
});
