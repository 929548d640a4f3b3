import { Stripe } from 'stripe';
import type { Checkout, Fact, Notification, Provider } from './provider.ts';

const API_VERSION = '2026-10-28.endive';
/** Our names for what a checkout is for, on Stripe's subscription. */
const PAYMENT_ID = 'latchkey_payment_id';

const client = (env: Env) => {
  const base = env.STRIPE_API_BASE ? new URL(env.STRIPE_API_BASE) : null;
  return new Stripe(env.STRIPE_SECRET_KEY ?? '', {
    apiVersion: API_VERSION,
    httpClient: Stripe.createFetchHttpClient(),
    maxNetworkRetries: 2,
    ...(base && {
      host: base.hostname,
      port: Number(base.port),
      protocol: base.protocol === 'http:' ? 'http' : 'https',
    }),
  });
};

const isMissing = (error: unknown) =>
  error instanceof Stripe.errors.StripeError && error.code === 'resource_missing';

const refOf = (object: string | { id: string } | null | undefined): string | null =>
  typeof object === 'string' ? object : (object?.id ?? null);

const ms = (seconds: number) => seconds * 1_000;

const termOf = (subscription: Stripe.Subscription) => {
  const [item] = subscription.items.data;
  if (!item) throw new Error(`Stripe's subscription ${subscription.id} has no item.`);
  return { startMs: ms(item.current_period_start), endMs: ms(item.current_period_end) };
};

const FAILING = new Set<Stripe.Subscription.Status>(['past_due', 'unpaid']);
const BEGUN = new Set<Stripe.Subscription.Status>(['active', 'trialing', 'past_due', 'unpaid', 'canceled']);

/** All that a subscription's present state says. Notifications in any order end with the same facts. */
export const factsOf = (subscription: Stripe.Subscription): Fact[] => {
  const paymentId = subscription.metadata[PAYMENT_ID];
  const subscriptionRef = subscription.id;
  if (!paymentId || !BEGUN.has(subscription.status)) return [];
  const term = termOf(subscription);
  const facts: Fact[] = [
    { kind: 'paid', paymentId, subscriptionRef, customerRef: refOf(subscription.customer), term },
  ];
  const invoice = typeof subscription.latest_invoice === 'object' ? subscription.latest_invoice : null;
  if (invoice?.id && invoice.billing_reason === 'subscription_cycle' && invoice.status === 'paid') {
    const { amount_paid: amount, currency } = invoice;
    facts.push({ kind: 'renewed', subscriptionRef, invoiceRef: invoice.id, amount, currency, term });
  }
  if (invoice?.id && FAILING.has(subscription.status)) {
    facts.push({
      kind: 'payment_failed',
      subscriptionRef,
      invoiceRef: invoice.id,
      atMs: ms(invoice.created),
      term,
    });
  }
  if (subscription.status === 'canceled') {
    facts.push({ kind: 'ended', subscriptionRef, atMs: ms(subscription.ended_at ?? subscription.created) });
  }
  return facts;
};

/** The subscription that a notification is about. */
const subscriptionRefOf = (event: Stripe.Event): string | null => {
  switch (event.type) {
    case 'checkout.session.completed':
      return refOf(event.data.object.subscription);
    case 'invoice.paid':
    case 'invoice.payment_failed':
      return refOf(event.data.object.parent?.subscription_details?.subscription);
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
      return event.data.object.id;
    default:
      return null;
  }
};

const sessionParams = (checkout: Checkout): Stripe.Checkout.SessionCreateParams => ({
  mode: 'subscription',
  client_reference_id: checkout.accountId,
  ...(checkout.customerRef ? { customer: checkout.customerRef } : { customer_email: checkout.email }),
  line_items: [
    {
      quantity: 1,
      price_data: {
        currency: checkout.currency,
        unit_amount: checkout.amount,
        recurring: { interval: 'month' },
        product_data: { name: `Latchkey ${checkout.plan}` },
      },
    },
  ],
  metadata: { [PAYMENT_ID]: checkout.paymentId },
  subscription_data: { metadata: { [PAYMENT_ID]: checkout.paymentId } },
  success_url: checkout.successUrl,
  cancel_url: checkout.cancelUrl,
});

export const stripe = (env: Env): Provider => {
  const api = client(env);
  return {
    name: 'stripe',

    startCheckout: async (checkout) => {
      const start = (asked: Checkout, idempotencyKey: string) =>
        api.checkout.sessions.create(sessionParams(asked), { idempotencyKey });
      const session = await start(checkout, checkout.paymentId).catch((error: unknown) => {
        // A customer that Stripe has forgotten, or knew by another key, is met anew.
        if (!isMissing(error) || checkout.customerRef === null) throw error;
        return start({ ...checkout, customerRef: null }, `${checkout.paymentId}-anew`);
      });
      if (!session.url) throw new Error(`Stripe's checkout ${session.id} has no page.`);
      return { checkoutUrl: session.url, checkoutRef: session.id };
    },

    expireCheckout: async (checkoutRef) => {
      await api.checkout.sessions.expire(checkoutRef);
    },

    cancel: async (subscriptionRef, at) => {
      try {
        if (at === 'now') await api.subscriptions.cancel(subscriptionRef);
        else await api.subscriptions.update(subscriptionRef, { cancel_at_period_end: true });
      } catch (error) {
        // It is over already, which is what was asked for.
        if (!isMissing(error)) throw error;
      }
    },

    readNotification: async (body, headers): Promise<Notification | null> => {
      let event: Stripe.Event;
      try {
        event = await api.webhooks.constructEventAsync(
          body,
          headers.get('stripe-signature') ?? '',
          env.STRIPE_WEBHOOK_SECRET ?? '',
        );
      } catch {
        return null;
      }
      const subscriptionRef = subscriptionRefOf(event);
      if (!subscriptionRef) return { id: event.id, type: event.type, facts: [] };
      // Notifications come late and in any order: what counts is the subscription as it is now.
      const subscription = await api.subscriptions.retrieve(subscriptionRef, { expand: ['latest_invoice'] });
      return { id: event.id, type: event.type, facts: factsOf(subscription) };
    },
  };
};
