import { Stripe } from 'stripe';
import { type Checkout, type Notification, plannedEnd, type Provider } from './provider.ts';
import { ACCOUNT_ID_KEY, isNeverPaid, latestInvoice, PAYMENT_ID_KEY, toFacts, toId } from './stripe-facts.ts';

const API_VERSION = '2026-10-28.endive';

export interface StripeAccess {
  secretKey: string;
  webhookSecret: string;
  /** Another address of Stripe's API, in tests. */
  apiUrl: URL | null;
}

const client = ({ secretKey, apiUrl }: StripeAccess) =>
  new Stripe(secretKey, {
    apiVersion: API_VERSION,
    httpClient: Stripe.createFetchHttpClient(),
    maxNetworkRetries: 2,
    ...(apiUrl && {
      host: apiUrl.hostname,
      port: Number(apiUrl.port),
      protocol: apiUrl.protocol === 'http:' ? 'http' : 'https',
    }),
  });

const isMissing = (error: unknown) =>
  error instanceof Stripe.errors.StripeError && error.code === 'resource_missing';

/** Returns the id of the subscription that an event is about. */
const getSubscriptionId = (event: Stripe.Event): string | null => {
  switch (event.type) {
    case 'checkout.session.completed':
      return toId(event.data.object.subscription);
    case 'invoice.paid':
    case 'invoice.payment_failed':
      return toId(event.data.object.parent?.subscription_details?.subscription);
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
      return event.data.object.id;
    default:
      return null;
  }
};

const toMetadata = ({ paymentId, accountId }: Checkout) => ({
  [PAYMENT_ID_KEY]: paymentId,
  [ACCOUNT_ID_KEY]: accountId,
});

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
  metadata: toMetadata(checkout),
  subscription_data: { metadata: toMetadata(checkout) },
  success_url: checkout.successUrl,
  cancel_url: checkout.cancelUrl,
});

/** A customer may be waiting for the state of a checkout, and the question is repeated anyway. */
const READ_STATE_OPTIONS = { timeout: 5_000, maxNetworkRetries: 0 };

export const stripe = (access: StripeAccess): Provider => {
  const api = client(access);
  const getSubscription = (ref: string, options?: Stripe.RequestOptions) =>
    api.subscriptions.retrieve(ref, { expand: ['latest_invoice'] }, options);

  /** Nobody may pay an invoice of a subscription that is over: Stripe's reminders still link to it. */
  const voidOpen = async (invoice: Stripe.Invoice | null) => {
    if (!invoice?.id || invoice.status !== 'open') return;
    await api.invoices.voidInvoice(invoice.id);
  };

  /** An ended subscription refuses each change, with different errors. Its open invoice can outlive a lost response. */
  const unlessEnded = async (subscriptionRef: string, error: unknown) => {
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
    const subscription = await getSubscription(subscriptionRef).catch((missing: unknown) => {
      if (!isMissing(missing)) throw missing;
      return null;
    });
    if (subscription && subscription.status !== 'canceled') throw error;
    if (subscription) await voidOpen(latestInvoice(subscription));
  };

  return {
    name: 'stripe',

    startCheckout: async (checkout) => {
      const createSession = (params: Checkout, idempotencyKey: string) =>
        api.checkout.sessions.create(sessionParams(params), { idempotencyKey });
      const session = await createSession(checkout, checkout.paymentId).catch((error: unknown) => {
        // Stripe doesn't know the customer, for example after a switch of Stripe accounts: create a new one.
        if (!isMissing(error) || checkout.customerRef === null) throw error;
        return createSession({ ...checkout, customerRef: null }, `${checkout.paymentId}-new-customer`);
      });
      if (!session.url) throw new Error(`Stripe checkout ${session.id} has no URL.`);
      return { checkoutUrl: session.url, checkoutRef: session.id };
    },

    expireCheckout: async (checkoutRef) => {
      await api.checkout.sessions.expire(checkoutRef);
    },

    cancel: async (subscriptionRef, at) => {
      try {
        if (at === 'now') {
          const { latest_invoice: invoice } = await api.subscriptions.cancel(subscriptionRef, {
            expand: ['latest_invoice'],
          });
          await voidOpen(typeof invoice === 'object' ? invoice : null);
        } else await api.subscriptions.update(subscriptionRef, { cancel_at_period_end: true });
      } catch (error) {
        await unlessEnded(subscriptionRef, error);
      }
    },

    readState: async (subject) => {
      const readAtMs = Date.now();
      try {
        const session =
          subject.kind === 'checkout'
            ? await api.checkout.sessions.retrieve(subject.ref, {}, READ_STATE_OPTIONS)
            : null;
        const subscriptionRef = session ? toId(session.subscription) : subject.ref;
        const subscription = subscriptionRef
          ? await getSubscription(subscriptionRef, READ_STATE_OPTIONS)
          : null;
        return {
          facts: subscription ? toFacts(subscription, readAtMs) : [],
          hasExpired: session?.status === 'expired' || (subscription !== null && isNeverPaid(subscription)),
        };
      } catch (error) {
        if (!isMissing(error)) throw error;
        return { facts: plannedEnd(subject), hasExpired: subject.kind === 'checkout' };
      }
    },

    readNotification: async (body, headers): Promise<Notification | null> => {
      let event: Stripe.Event;
      try {
        event = await api.webhooks.constructEventAsync(
          body,
          headers.get('stripe-signature') ?? '',
          access.webhookSecret,
        );
      } catch {
        return null;
      }
      const notification = { id: event.id, type: event.type };
      const subscriptionRef = getSubscriptionId(event);
      if (!subscriptionRef) return { ...notification, accountId: null, facts: [] };
      // Notifications can be late or out of order, so read the subscription's current state.
      const readAtMs = Date.now();
      const subscription = await getSubscription(subscriptionRef);
      const accountId = subscription.metadata[ACCOUNT_ID_KEY] ?? null;
      return { ...notification, accountId, facts: toFacts(subscription, readAtMs) };
    },
  };
};
