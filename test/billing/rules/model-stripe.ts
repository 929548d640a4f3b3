import type { Stripe } from 'stripe';
import type { DisputeState } from '../../../src/billing/rules/fact.ts';
import { addMonths } from '../../../src/shared/rules/dates.ts';

// A small model of Stripe for random histories: subscriptions, their invoices, and what became of the money.

export interface ModelInvoice {
  id: string;
  reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update';
  status: 'paid' | 'open' | 'void';
  amount: number;
  refunded: number;
  dispute: DisputeState | null;
  startMs: number;
  endMs: number;
  createdMs: number;
  paidMs: number | null;
  /** Whether a notification of what became of the money was lost. */
  isUntold: boolean;
}

export interface ModelSubscription {
  id: string;
  paymentId: string;
  plan: 'pro' | 'scale';
  status: 'active' | 'past_due' | 'canceled';
  endsWithPeriod: boolean;
  startMs: number;
  endMs: number;
  endedMs: number | null;
  /** Whether somebody has ended it at Stripe, who decides on refunds there. */
  isEndedThere: boolean;
  invoices: ModelInvoice[];
}

export const AMOUNTS = { pro: 2_900, scale: 19_900 };

/** The invoices that a check looks at, older ones first. */
export const recentOf = ({ invoices }: ModelSubscription): ModelInvoice[] =>
  invoices.filter(({ status }) => status === 'paid').slice(-2);

export const latestOf = ({ invoices }: ModelSubscription): ModelInvoice => invoices.at(-1)!;

export const openStripe = (nowMs: () => number) => {
  const subscriptions: ModelSubscription[] = [];
  let count = 0;
  const newId = (prefix: string) => `${prefix}_${++count}`;

  const bill = (
    subscription: ModelSubscription,
    reason: ModelInvoice['reason'],
    amount: number,
    isPaid: boolean,
  ) => {
    const { startMs, endMs } = subscription;
    const paidMs = isPaid ? nowMs() : null;
    const common = {
      id: newId('in'),
      reason,
      amount,
      refunded: 0,
      dispute: null,
      createdMs: nowMs(),
      paidMs,
      isUntold: false,
    };
    const from = reason === 'subscription_update' ? nowMs() : startMs;
    subscription.invoices.push({ ...common, status: isPaid ? 'paid' : 'open', startMs: from, endMs });
    subscription.status = isPaid ? 'active' : 'past_due';
  };

  return {
    subscriptions,
    begin: (paymentId: string, plan: ModelSubscription['plan']): ModelSubscription => {
      const startMs = nowMs();
      const begun: ModelSubscription = {
        id: newId('sub'),
        paymentId,
        plan,
        status: 'active',
        endsWithPeriod: false,
        startMs,
        endMs: addMonths(startMs, 1),
        endedMs: null,
        isEndedThere: false,
        invoices: [],
      };
      bill(begun, 'subscription_create', AMOUNTS[plan], true);
      subscriptions.push(begun);
      return begun;
    },
    /** Renews or ends what has reached the end of its period: Stripe gives up after two unpaid ones. Returns whether anything did. */
    passPeriod: (subscription: ModelSubscription, isPaid: boolean): boolean => {
      if (subscription.status === 'canceled' || subscription.endMs > nowMs()) return false;
      const open = subscription.invoices.filter(({ status }) => status === 'open');
      if (subscription.endsWithPeriod || open.length === 2) {
        subscription.status = 'canceled';
        subscription.endedMs = nowMs();
        return true;
      }
      subscription.startMs = subscription.endMs;
      subscription.endMs = addMonths(subscription.endMs, 1);
      bill(subscription, 'subscription_cycle', AMOUNTS[subscription.plan], isPaid);
      return true;
    },
    change: (subscription: ModelSubscription, plan: ModelSubscription['plan']) => {
      const amount = Math.max(0, AMOUNTS[plan] - AMOUNTS[subscription.plan]);
      subscription.plan = plan;
      bill(subscription, 'subscription_update', amount, true);
    },
    pay: (subscription: ModelSubscription, invoice: ModelInvoice) => {
      Object.assign(invoice, { status: 'paid', paidMs: nowMs() });
      if (subscription.status === 'past_due' && invoice === latestOf(subscription))
        subscription.status = 'active';
    },
    cancel: (ref: string) => {
      const subscription = subscriptions.find(({ id }) => id === ref)!;
      if (subscription.status !== 'canceled')
        Object.assign(subscription, { status: 'canceled', endedMs: nowMs() });
      for (const invoice of subscription.invoices) if (invoice.status === 'open') invoice.status = 'void';
    },
    refund: (ref: string) => {
      const all = subscriptions.flatMap(({ invoices }) => invoices);
      // A checkout has paid the first invoice.
      const bought = subscriptions.find(({ paymentId }) => ref === `cs_${paymentId}`)?.invoices[0];
      const invoice = bought ?? all.find(({ id }) => id === ref)!;
      invoice.refunded = invoice.amount;
    },
  };
};

const seconds = (ms: number) => Math.floor(ms / 1_000);

export const toStripeInvoice = ({ id: subscription }: ModelSubscription, invoice: ModelInvoice) =>
  ({
    id: invoice.id,
    status: invoice.status,
    billing_reason: invoice.reason,
    amount_paid: invoice.status === 'paid' ? invoice.amount : 0,
    currency: 'usd',
    created: seconds(invoice.createdMs),
    status_transitions: { paid_at: invoice.paidMs === null ? null : seconds(invoice.paidMs) },
    lines: { data: [{ period: { start: seconds(invoice.startMs), end: seconds(invoice.endMs) } }] },
    parent: { subscription_details: { subscription } },
  }) as unknown as Stripe.Invoice;

export const toStripeSubscription = (model: ModelSubscription) =>
  ({
    id: model.id,
    status: model.status,
    customer: 'cus_1',
    metadata: { latchkey_payment_id: model.paymentId },
    items: {
      data: [
        {
          current_period_start: seconds(model.startMs),
          current_period_end: seconds(model.endMs),
          price: { product: `latchkey_${model.plan}` },
        },
      ],
    },
    latest_invoice: toStripeInvoice(model, latestOf(model)),
    cancel_at_period_end: model.endsWithPeriod && model.status !== 'canceled',
    cancel_at: null,
    ended_at: model.endedMs === null ? null : seconds(model.endedMs),
    created: seconds(model.invoices[0]!.startMs),
  }) as unknown as Stripe.Subscription;

export const firstPaidOf = (model: ModelSubscription) => {
  const invoice = model.invoices.find(({ status }) => status === 'paid');
  return invoice ? toStripeInvoice(model, invoice) : null;
};

const DISPUTES = { open: 'needs_response', won: 'won', lost: 'lost' } as const;

export const toStripeCharge = ({ id, amount, refunded, dispute }: ModelInvoice) => ({
  charge: { id: `ch_${id}`, amount, amount_refunded: refunded } as Stripe.Charge,
  dispute: dispute && ({ id: `dp_${id}`, status: DISPUTES[dispute], amount } as Stripe.Dispute),
});
