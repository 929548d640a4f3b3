import { Stripe } from 'stripe';
import type { Prices } from '../../shared/config/parse.ts';
import { CURRENCY, PAID_PLANS, type PaidPlan, PLANS } from '../../shared/rules/plans.ts';
import { providerFailed } from './provider-failed.ts';
import type { Price } from './provider.ts';
import { type PlanOf, toId } from './stripe-facts.ts';

// What the plans cost at Stripe: the prices that the operator has made there, or prices that this service defines.

/** Without configured prices, each plan is a product with this id. */
const productOf = (plan: PaidPlan) => `latchkey_${plan}`;

/** By the price or the product, the plan of a subscription is known from Stripe alone. */
export const planByPrice =
  (prices: Prices | null): PlanOf =>
  (price) =>
    PAID_PLANS.find((plan) => prices !== null && prices[plan] === price?.id) ??
    PAID_PLANS.find((plan) => toId(price?.product) === productOf(plan)) ??
    null;

/** Returns the price of a plan as an item of a checkout or a subscription names it. Its product is made on first use. */
export const priceItem = async (api: Stripe, prices: Prices | null, plan: PaidPlan) => {
  if (prices) return { price: prices[plan] };
  await api.products.create({ id: productOf(plan), name: `Latchkey ${plan}` }).catch((error: unknown) => {
    const exists = error instanceof Stripe.errors.StripeError && error.code === 'resource_already_exists';
    if (!exists) throw error;
  });
  return {
    price_data: {
      currency: CURRENCY,
      unit_amount: PLANS[plan].amount,
      recurring: { interval: 'month' as const },
      product: productOf(plan),
    },
  };
};

const KNOWN_MS = 10 * 60_000;
/** Stripe is asked again so long after a failure. */
const RETRY_MS = 10_000;
const known = new Map<string, { price: Price | null; untilMs: number }>();

/** Returns what a plan costs. A configured price is read again after some minutes, and is kept while that fails. */
export const readPrice = async (api: Stripe, prices: Prices | null, plan: PaidPlan): Promise<Price> => {
  const id = prices?.[plan];
  if (id === undefined) return { amount: PLANS[plan].amount, currency: CURRENCY };
  const earlier = known.get(id);
  if (earlier && earlier.untilMs > Date.now()) return earlier.price ?? providerFailed();
  try {
    const read = await api.prices.retrieve(id, {}, { timeout: 5_000, maxNetworkRetries: 0 });
    const price = { amount: read.unit_amount ?? 0, currency: read.currency };
    known.set(id, { price, untilMs: Date.now() + KNOWN_MS });
    return price;
  } catch (error) {
    const price = earlier?.price ?? null;
    known.set(id, { price, untilMs: Date.now() + RETRY_MS });
    if (price) return price;
    throw error;
  }
};

/** Whether Stripe computes taxes, which is switched on in its dashboard. A key that may not look can't use them either. */
export const hasAutomaticTax = async (api: Stripe): Promise<boolean> => {
  try {
    return (await api.tax.settings.retrieve()).status === 'active';
  } catch (error) {
    const isRefused =
      error instanceof Stripe.errors.StripePermissionError ||
      error instanceof Stripe.errors.StripeInvalidRequestError;
    if (isRefused) return false;
    throw error;
  }
};
