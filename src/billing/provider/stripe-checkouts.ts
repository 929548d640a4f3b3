import { Stripe } from 'stripe';
import type { Checkout } from './provider.ts';
import { ACCOUNT_ID_KEY, PAYMENT_ID_KEY, toId } from './stripe-facts.ts';
import type { priceItem } from './stripe-prices.ts';

// Stripe's pages where a subscription begins.

export const isMissing = (error: unknown) =>
  error instanceof Stripe.errors.StripeError && error.code === 'resource_missing';

const toMetadata = ({ paymentId, accountId }: Checkout) => ({
  [PAYMENT_ID_KEY]: paymentId,
  [ACCOUNT_ID_KEY]: accountId,
});

const customerParams = ({ customerRef, email }: Checkout, hasTax: boolean) =>
  customerRef === null
    ? { customer_email: email }
    : // The address decides on the tax, and may be another one now.
      {
        customer: customerRef,
        ...(hasTax && { customer_update: { address: 'auto' as const, name: 'auto' as const } }),
      };

export const sessionParams = (
  checkout: Checkout,
  item: Awaited<ReturnType<typeof priceItem>>,
  hasTax: boolean,
): Stripe.Checkout.SessionCreateParams => ({
  mode: 'subscription',
  client_reference_id: checkout.accountId,
  ...customerParams(checkout, hasTax),
  line_items: [{ quantity: 1, ...item }],
  ...(hasTax && { automatic_tax: { enabled: true }, tax_id_collection: { enabled: true } }),
  metadata: toMetadata(checkout),
  subscription_data: { metadata: toMetadata(checkout) },
  success_url: checkout.successUrl,
  cancel_url: checkout.cancelUrl,
});

/** Makes sure that a session can't begin a subscription anymore. Returns the one that it has begun, or null. */
export const closeSession = async (api: Stripe, ref: string): Promise<string | null> => {
  try {
    await api.checkout.sessions.expire(ref);
    return null;
  } catch (error) {
    // Stripe expires no session but an open one.
    if (isMissing(error)) return null;
    const { status, subscription } = await api.checkout.sessions.retrieve(ref);
    if (status === 'open') throw error;
    return toId(subscription);
  }
};
