import { Stripe } from 'stripe';
import type { Prices } from '../../shared/config/parse.ts';
import { type Checkout, type Notification, plannedEnd, type Provider } from './provider.ts';
import { changeSubscription, openPortal, resumeSubscription, updateSubscription } from './stripe-changes.ts';
import {
  findFirstPaid,
  findInvoice,
  readCharge,
  readRecentCharges,
  refundAll,
  refundPayment,
  voidOpen,
} from './stripe-charges.ts';
import { closeSession, isMissing, sessionParams } from './stripe-checkouts.ts';
import { ACCOUNT_ID_KEY, isNeverPaid, isOver, toFacts, toInvoiceFacts, toId } from './stripe-facts.ts';
import { hasAutomaticTax, planByPrice, priceItem, readPrice } from './stripe-prices.ts';

const API_VERSION = '2026-10-28.endive';

export interface StripeAccess {
  secretKey: string;
  webhookSecret: string;
  prices: Prices | null;
  /** Another address of Stripe's API, in tests. */
  apiUrl: URL | null;
}

/** The default is 80 s. Stripe answers in less than one, and waits 20 s itself for the answer to a notification. */
const TIMEOUT_MS = 10_000;

const client = ({ secretKey, apiUrl }: StripeAccess) =>
  new Stripe(secretKey, {
    apiVersion: API_VERSION,
    httpClient: Stripe.createFetchHttpClient(),
    maxNetworkRetries: 1,
    timeout: TIMEOUT_MS,
    ...(apiUrl && {
      host: apiUrl.hostname,
      port: Number(apiUrl.port),
      protocol: apiUrl.protocol === 'http:' ? 'http' : 'https',
    }),
  });

/** A notification has the form of the API version with which its endpoint was made: before 2025-03-31 without a parent. */
const subscriptionOf = (invoice: Stripe.Invoice & { subscription?: string | null }): string | null =>
  toId(invoice.parent?.subscription_details?.subscription ?? invoice.subscription);

/** Returns the id of the subscription that an event is about. */
const getSubscriptionId = (event: Stripe.Event): string | null => {
  switch (event.type) {
    case 'checkout.session.completed':
      return toId(event.data.object.subscription);
    case 'invoice.paid':
    case 'invoice.payment_failed':
      return subscriptionOf(event.data.object);
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
      return event.data.object.id;
    default:
      return null;
  }
};

/** The charge that an event is about, and the intent by which its invoice is found. */
const getCharge = (event: Stripe.Event): { chargeId: string; intent: string } | null => {
  const ids = (charge: string | null, intent: string | null) =>
    charge !== null && intent !== null ? { chargeId: charge, intent } : null;
  switch (event.type) {
    case 'charge.refunded':
      return ids(event.data.object.id, toId(event.data.object.payment_intent));
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
      return ids(toId(event.data.object.charge), toId(event.data.object.payment_intent));
    default:
      return null;
  }
};

/** A customer may be waiting for the state of a checkout, and the question is repeated anyway. */
const READ_STATE_OPTIONS = { timeout: 5_000, maxNetworkRetries: 0 };

export const stripe = (access: StripeAccess): Provider => {
  const api = client(access);
  const { prices } = access;
  const planOf = planByPrice(prices);
  const getSubscription = (ref: string, options?: Stripe.RequestOptions) =>
    api.subscriptions.retrieve(ref, { expand: ['latest_invoice'] }, options);

  /** A late notification can be about an invoice that is no longer the latest one. */
  const readInvoice = async ({ type, data }: Stripe.Event): Promise<Stripe.Invoice | null> =>
    type === 'invoice.paid' && data.object.id ? api.invoices.retrieve(data.object.id) : null;

  /** An ended subscription refuses each change, with different errors. Its open invoice can outlive a lost response. */
  const unlessEnded = async (subscriptionRef: string, error: unknown) => {
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
    const subscription = await getSubscription(subscriptionRef).catch((missing: unknown) => {
      if (!isMissing(missing)) throw missing;
      return null;
    });
    if (subscription && !isOver(subscription)) throw error;
    if (subscription) await voidOpen(api, subscriptionRef);
  };

  const cancelNow = async (subscriptionRef: string) => {
    try {
      await api.subscriptions.cancel(subscriptionRef);
      await voidOpen(api, subscriptionRef);
    } catch (error) {
      await unlessEnded(subscriptionRef, error);
    }
  };

  return {
    name: 'stripe',

    startCheckout: async (checkout) => {
      const item = await priceItem(api, prices, checkout.plan);
      const hasTax = await hasAutomaticTax(api);
      const createSession = (params: Checkout, idempotencyKey: string) =>
        api.checkout.sessions.create(sessionParams(params, item, hasTax), { idempotencyKey });
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

    endCheckout: async (checkoutRef) => {
      const ref = await closeSession(api, checkoutRef);
      if (ref === null) return;
      await cancelNow(ref);
      await refundAll(api, ref);
    },

    cancel: async (subscriptionRef, at) => {
      if (at === 'now') return cancelNow(subscriptionRef);
      try {
        const { schedule } = await api.subscriptions.retrieve(subscriptionRef);
        await updateSubscription(api, subscriptionRef, schedule, { cancel_at_period_end: true });
      } catch (error) {
        await unlessEnded(subscriptionRef, error);
      }
    },

    resume: (ref) => resumeSubscription(api, ref),
    change: (ref, plan, idempotencyKey) => changeSubscription(api, prices, { ref, plan, idempotencyKey }),
    portal: (customerRef, returnUrl) => openPortal(api, customerRef, returnUrl),
    price: (plan) => readPrice(api, prices, plan),
    refund: (paymentRef) => refundPayment(api, paymentRef),

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
        const firstPaid = subscription && (await findFirstPaid(api, subscription, READ_STATE_OPTIONS));
        const isExpired =
          session?.status === 'expired' || (subscription !== null && isNeverPaid(subscription, firstPaid));
        const charges =
          subscription && subject.kind === 'subscription'
            ? await readRecentCharges(api, subscription, planOf, READ_STATE_OPTIONS)
            : [];
        return {
          facts: subscription ? toFacts(subscription, readAtMs, planOf, firstPaid, charges) : [],
          checkout: isExpired ? 'expired' : session?.status === 'open' ? 'open' : 'complete',
        };
      } catch (error) {
        if (!isMissing(error)) throw error;
        return { facts: plannedEnd(subject), checkout: subject.kind === 'checkout' ? 'expired' : 'complete' };
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
      const charge = getCharge(event);
      const invoice = charge && (await findInvoice(api, charge.intent));
      const subscriptionRef = invoice ? subscriptionOf(invoice) : getSubscriptionId(event);
      if (!subscriptionRef) return { ...notification, accountId: null, facts: [] };
      // Notifications can be late or out of order, so read the subscription's current state.
      const readAtMs = Date.now();
      const subscription = await getSubscription(subscriptionRef);
      const accountId = subscription.metadata[ACCOUNT_ID_KEY] ?? null;
      const charges =
        charge && invoice ? await readCharge(api, subscription, invoice, charge.chargeId, planOf) : [];
      const about = await readInvoice(event);
      const ofInvoices = [...toInvoiceFacts(subscription, about, planOf), ...charges];
      const firstPaid = await findFirstPaid(api, subscription);
      const facts = toFacts(subscription, readAtMs, planOf, firstPaid, ofInvoices);
      return { ...notification, accountId, facts };
    },
  };
};
