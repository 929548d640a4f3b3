import * as z from 'zod';
import { PAYMENT_STATUSES, type PaymentRow, PAYMENT_PROVIDERS, type SubscriptionRow } from '../db/schema.ts';
import { isoTime, isoTimeOrNull } from '../shared/rules/dates.ts';
import { PAID_PLANS, type PaidPlan, PLAN_NAMES, type PlanName, PLANS } from '../shared/rules/plans.ts';
import type { Price } from './provider/provider.ts';
import { standingOf } from './rules/standing.ts';

const returnUrl = z.string().max(2_048).meta({
  description: 'A URL on this service, or on one of the account’s `allowed_origins`.',
});

export const initPaymentInput = z
  .strictObject({
    plan: z.enum(PAID_PLANS),
    success_url: returnUrl.optional(),
    cancel_url: returnUrl.optional(),
  })
  .meta({ id: 'InitPayment' });

export const cancelSubscriptionInput = z
  .strictObject({
    at: z.enum(['period_end', 'now']).default('period_end').meta({
      description: 'When to cancel. The paid limits apply until then.',
    }),
  })
  .meta({ id: 'CancelSubscription' });

export const startedPaymentBody = z
  .object({
    payment_id: z.string().meta({ examples: ['pay_0VJ1mKq7XbT2c9LpQwZa'] }),
    provider: z.enum(PAYMENT_PROVIDERS),
    plan: z.enum(PAID_PLANS),
    amount: z.int().meta({ description: 'The amount in minor units, such as cents.' }),
    currency: z.string(),
    status: z.literal('pending'),
    checkout_url: z.string(),
  })
  .meta({ id: 'StartedPayment' });

export const cancelledSubscriptionBody = z
  .object({
    subscription: z.object({
      id: z.string(),
      plan: z.enum(PAID_PLANS),
      status: z.literal('cancelled'),
      cancelled_at: z.iso.datetime(),
      ends_at: z.iso.datetime(),
    }),
  })
  .meta({ id: 'CancelledSubscription' });

const subscriptionBody = z.object({
  id: z.string(),
  plan: z.enum(PAID_PLANS),
  status: z.enum(['active', 'past_due', 'suspended', 'cancelled']).meta({
    description: 'A subscription is `suspended` while a payment for its period is disputed.',
  }),
  period_start: z.iso.datetime(),
  period_end: z.iso.datetime(),
  cancelled_at: z.iso.datetime().nullable(),
  ends_at: z.iso.datetime().nullable().meta({
    description: 'When the plan ends, after a cancellation or a failed payment.',
  }),
});

export const resumedSubscriptionBody = z
  .object({ subscription: subscriptionBody })
  .meta({ id: 'ResumedSubscription' });

export const portalBody = z.object({ url: z.string() }).meta({ id: 'BillingPortal' });

export const billingBody = z
  .object({
    plan: z.enum(PLAN_NAMES),
    subscription: subscriptionBody.nullable(),
    payments: z
      .array(
        z.object({
          payment_id: z.string(),
          provider: z.enum(PAYMENT_PROVIDERS),
          plan: z.enum(PAID_PLANS),
          status: z.enum(PAYMENT_STATUSES),
          amount: z.int(),
          currency: z.string(),
          created_at: z.iso.datetime(),
          paid_at: z.iso.datetime().nullable(),
        }),
      )
      .meta({ description: 'The latest 50 payments.' }),
    plans: z
      .array(
        z.object({
          plan: z.enum(PLAN_NAMES),
          api_limit: z.int().meta({ description: 'Licensing calls per period.' }),
          license_limit: z
            .int()
            .meta({ description: 'Licenses that the account may hold, whatever their status.' }),
          storage_limit: z.int().meta({ description: 'Bytes that the account may store in the database.' }),
          calls_per_second: z.int().meta({ description: 'Calls per second for each API key.' }),
          amount: z.int().meta({ description: 'The price per month in minor units, such as cents.' }),
          currency: z.string(),
        }),
      )
      .meta({ description: 'The available plans.' }),
  })
  .meta({ id: 'Billing' });

export const receivedBody = z.object({ received: z.literal(true) }).meta({ id: 'Received' });

export const toStartedPayment = (
  payment: Pick<PaymentRow, 'id' | 'provider' | 'plan' | 'amount' | 'currency'>,
  checkoutUrl: string,
): z.infer<typeof startedPaymentBody> => ({
  payment_id: payment.id,
  provider: payment.provider,
  plan: payment.plan,
  amount: payment.amount,
  currency: payment.currency,
  status: 'pending',
  checkout_url: checkoutUrl,
});

export const toCancelled = (row: SubscriptionRow): z.infer<typeof cancelledSubscriptionBody> => ({
  subscription: {
    id: row.id,
    plan: row.plan,
    status: 'cancelled',
    cancelled_at: isoTime(row.cancelledAt ?? row.updatedAt),
    ends_at: isoTime(row.endsAt ?? row.periodEnd),
  },
});

export const toSubscription = (row: SubscriptionRow) => ({
  id: row.id,
  plan: row.plan,
  status:
    row.status === 'past_due' && row.disputedAt !== null
      ? ('suspended' as const)
      : (row.status as Exclude<SubscriptionRow['status'], 'ended'>),
  period_start: isoTime(row.periodStart),
  period_end: isoTime(row.periodEnd),
  cancelled_at: isoTimeOrNull(row.cancelledAt),
  ends_at: isoTimeOrNull(standingOf(row).planUntil),
});

export const toPayment = (row: PaymentRow) => ({
  payment_id: row.id,
  provider: row.provider,
  plan: row.plan,
  status: row.status,
  amount: row.amount,
  currency: row.currency,
  created_at: isoTime(row.createdAt),
  paid_at: isoTimeOrNull(row.paidAt),
});

const pick = ({ amount, currency }: Price) => ({ amount, currency });

const toPlan = (plan: PlanName, prices: Record<PaidPlan, Price>) => ({
  plan,
  api_limit: PLANS[plan].apiLimit,
  license_limit: PLANS[plan].licenseLimit,
  storage_limit: PLANS[plan].storageBytes,
  calls_per_second: PLANS[plan].callsPerSecond,
  ...(plan === 'free' ? { amount: 0, currency: prices.pro.currency } : pick(prices[plan])),
});

export const toBilling = (
  plan: (typeof PLAN_NAMES)[number],
  subscription: SubscriptionRow | null,
  payments: PaymentRow[],
  prices: Record<PaidPlan, Price>,
): z.infer<typeof billingBody> => ({
  plan,
  subscription: subscription && toSubscription(subscription),
  payments: payments.map(toPayment),
  plans: PLAN_NAMES.map((name) => toPlan(name, prices)),
});
