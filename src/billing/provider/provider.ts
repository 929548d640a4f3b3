import type { PaidPlan } from '../../shared/rules/plans.ts';
import type { Fact, ProviderName } from '../rules/fact.ts';

// The interface of a payment provider. The rest of the billing code works with any provider.

export interface Price {
  /** In minor units. */
  amount: number;
  currency: string;
}

export interface Checkout {
  paymentId: string;
  accountId: string;
  email: string;
  /** The provider's id for this customer, or null for a new customer. */
  customerRef: string | null;
  plan: PaidPlan;
  amount: number;
  currency: string;
  successUrl: string;
  cancelUrl: string;
  origin: string;
}

/** What a provider can be asked about. */
export type Subject =
  | { kind: 'checkout'; ref: string }
  | { kind: 'subscription'; ref: string; endsAtMs: number | null };

export interface CurrentState {
  facts: Fact[];
  /** Whether the checkout can still be paid, was completed, which a bank debit pays days later, or will never be paid. */
  checkout: 'open' | 'complete' | 'expired';
}

/** Returns the end of a subscription that was canceled here, for a provider that doesn't know the subscription. */
export const plannedEnd = (subject: Subject): Fact[] =>
  subject.kind === 'subscription' && subject.endsAtMs !== null && subject.endsAtMs <= Date.now()
    ? [{ kind: 'ended', subscriptionRef: subject.ref, atMs: subject.endsAtMs }]
    : [];

export interface Notification {
  id: string;
  type: string;
  /** The account that the facts are about, unless the provider doesn't know it. */
  accountId: string | null;
  facts: Fact[];
}

export interface Provider {
  name: ProviderName;
  /** Creates a page where the customer pays. */
  startCheckout: (checkout: Checkout) => Promise<{ checkoutUrl: string; checkoutRef: string }>;
  /** Expires a checkout that a newer checkout has replaced, so that it can't be paid anymore. */
  expireCheckout: (checkoutRef: string) => Promise<void>;
  /**
   * Ends a checkout for which nothing may be charged anymore: expires it, or else cancels the subscription that it began, and
   * gives back all that was paid for that, or throws `RefundRefused`. A repeat changes nothing more.
   */
  endCheckout: (checkoutRef: string) => Promise<void>;
  /** Canceling now also voids what is unpaid. */
  cancel: (subscriptionRef: string, at: 'period_end' | 'now') => Promise<void>;
  /** Lets a canceled subscription go on. Returns false if it has ended. */
  resume: (subscriptionRef: string) => Promise<boolean>;
  /**
   * Changes the plan of a subscription: what is left of the old one counts toward the new one. Returns a page where the customer
   * confirms the payment, if that is needed. Null for a provider whose plans change by another checkout.
   */
  change: ((subscriptionRef: string, plan: PaidPlan, paymentId: string) => Promise<string | null>) | null;
  /** Returns the provider's page for cards, invoices, and tax ids, or null for an account that it doesn't know. */
  portal: (customerRef: string | null, returnUrl: string) => Promise<string | null>;
  /** What a month of a plan costs. */
  price: (plan: PaidPlan) => Promise<Price>;
  /** Gives a payment back, by the provider's id of its invoice or checkout, or throws `RefundRefused`. A repeat gives nothing more. */
  refund: (paymentRef: string) => Promise<void>;
  /** Reads the current state of a checkout or subscription, whose notifications may have been lost. */
  readState: (subject: Subject) => Promise<CurrentState>;
  /** Returns the content of a signed notification, or null if the signature is invalid. */
  readNotification: (body: string, headers: Headers) => Promise<Notification | null>;
}
