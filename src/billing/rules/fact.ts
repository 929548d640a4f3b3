import type { PAYMENT_PROVIDERS } from '../../db/schema.ts';
import type { PaidPlan } from '../../shared/rules/plans.ts';

export type ProviderName = (typeof PAYMENT_PROVIDERS)[number];

interface Period {
  startMs: number;
  endMs: number;
}

interface Charge {
  subscriptionRef: string;
  invoiceRef: string;
  amount: number;
  currency: string;
}

/** A payment that was charged back. */
export type DisputeState = 'open' | 'won' | 'lost';

/** What is true at any provider, read from its objects. Each fact is applied once, except for the terms, which are a state. */
export type Fact =
  /** The first payment of a subscription, for a checkout of ours. */
  | {
      kind: 'bought';
      paymentId: string;
      subscriptionRef: string;
      customerRef: string | null;
      invoiceRef: string | null;
      /** What has arrived. Null if it's what the payment was for. */
      charged: { amount: number; currency: string } | null;
      /** Whether the money has come after the subscription had ended. */
      isTooLate: boolean;
      /** The period of the subscription now, and until when this payment was for. */
      period: Period;
      untilMs: number;
    }
  /** An invoice that is paid. The first one names the payment that it was for, unless a later one has begun the subscription. */
  | (Charge & {
      kind: 'settled';
      paymentId: string | null;
      paidAtMs: number | null;
      plan: PaidPlan | null;
      period: Period;
    })
  /** What the subscription is now. `endsAtMs` is set while it is canceled, and `failingRef` is an invoice that is overdue. */
  | {
      kind: 'terms';
      subscriptionRef: string;
      plan: PaidPlan | null;
      endsAtMs: number | null;
      failingRef: string | null;
      period: Period;
      readAtMs: number;
    }
  | { kind: 'ended'; subscriptionRef: string; atMs: number }
  /** `amount` is everything that was given back of the invoice. */
  | (Charge & { kind: 'refunded'; paymentId: string | null; untilMs: number })
  | (Charge & {
      kind: 'disputed';
      paymentId: string | null;
      disputeRef: string;
      state: DisputeState;
      untilMs: number;
    });

/**
 * Returns the unique name under which a fact is recorded when it is applied, and the names of the facts after which it is out of
 * date. The names are older than the kinds of facts.
 */
export const toFactNames = (provider: ProviderName, fact: Fact): [name: string, ...later: string[]] => {
  switch (fact.kind) {
    case 'bought':
      return [`${provider}:paid:${fact.paymentId}`];
    case 'settled':
      return [`${provider}:renewed:${fact.invoiceRef}`];
    // A state, which may come and go: each change of it has another name, and is guarded by what it was before.
    case 'terms':
      return [`${provider}:terms:${fact.subscriptionRef}:${crypto.randomUUID()}`];
    case 'refunded':
      return [`${provider}:refunded:${fact.invoiceRef}:${fact.amount}`];
    case 'disputed': {
      const nameOf = (state: string) => `${provider}:disputed:${fact.disputeRef}:${state}`;
      return fact.state === 'open' ? [nameOf('open'), nameOf('won'), nameOf('lost')] : [nameOf(fact.state)];
    }
    case 'ended':
    default:
      return [`${provider}:${fact.kind satisfies 'ended'}:${fact.subscriptionRef}`];
  }
};
