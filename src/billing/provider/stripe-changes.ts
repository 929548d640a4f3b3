import { Stripe } from 'stripe';
import type { Prices } from '../../shared/config/parse.ts';
import type { PaidPlan } from '../../shared/rules/plans.ts';
import { latestInvoice, toId } from './stripe-facts.ts';
import { priceItem } from './stripe-prices.ts';

// Changes of a subscription that is paid for.

/**
 * A change that was planned on Stripe's own page puts a schedule in charge, beside which Stripe refuses any other. What is asked
 * for now takes its place.
 */
export const updateSubscription = async (
  api: Stripe,
  ref: string,
  schedule: Stripe.Subscription['schedule'],
  params: Stripe.SubscriptionUpdateParams,
  options?: Stripe.RequestOptions,
): Promise<Stripe.Subscription> => {
  const scheduleId = toId(schedule);
  if (scheduleId !== null) await api.subscriptionSchedules.release(scheduleId);
  return api.subscriptions.update(ref, params, options);
};

/** Lets a subscription go on that was to end with its period, or on a date. Returns false if it has ended. */
export const resumeSubscription = async (api: Stripe, ref: string): Promise<boolean> => {
  const {
    status,
    schedule,
    cancel_at_period_end: endsWithPeriod,
    cancel_at: endsAt,
  } = await api.subscriptions.retrieve(ref);
  if (status === 'canceled') return false;
  if (endsWithPeriod) await updateSubscription(api, ref, schedule, { cancel_at_period_end: false });
  else if (endsAt !== null) await updateSubscription(api, ref, schedule, { cancel_at: '' });
  return true;
};

/**
 * Changes the plan at once, with an invoice of the difference for the rest of the period. A credit is kept for the next invoices.
 * Until the invoice is paid, Stripe keeps the old plan. Returns the page of an invoice that the customer has to pay.
 */
export const changeSubscription = async (
  api: Stripe,
  prices: Prices | null,
  { ref, plan, idempotencyKey }: { ref: string; plan: PaidPlan; idempotencyKey: string },
): Promise<string | null> => {
  const { items, schedule } = await api.subscriptions.retrieve(ref);
  const [item] = items.data;
  if (!item) throw new Error(`Stripe subscription ${ref} has no items.`);
  const changed = await updateSubscription(
    api,
    ref,
    schedule,
    {
      items: [{ id: item.id, ...(await priceItem(api, prices, plan)) }],
      proration_behavior: 'always_invoice',
      payment_behavior: 'pending_if_incomplete',
      expand: ['latest_invoice'],
    },
    { idempotencyKey },
  );
  return changed.pending_update ? (latestInvoice(changed)?.hosted_invoice_url ?? null) : null;
};

/** Returns Stripe's page for cards, invoices, and tax ids. */
export const openPortal = async (
  api: Stripe,
  customer: string | null,
  returnUrl: string,
): Promise<string | null> => {
  if (customer === null) return null;
  const session = await api.billingPortal.sessions
    .create({ customer, return_url: returnUrl })
    .catch((error: unknown) => {
      // Stripe doesn't know the customer, for example after a switch of Stripe accounts.
      if (error instanceof Stripe.errors.StripeError && error.code === 'resource_missing') return null;
      throw error;
    });
  return session?.url ?? null;
};
