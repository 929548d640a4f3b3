import type { PROVIDERS } from '../db/schema.ts';
import type { PAID_PLANS } from '../shared/rules/plans.ts';

// What a payment provider does for us. Everything behind it is common and knows no provider.

export type ProviderName = (typeof PROVIDERS)[number];

export type PaidPlan = (typeof PAID_PLANS)[number];

export interface Checkout {
  paymentId: string;
  accountId: string;
  email: string;
  /** The provider's own name of this customer, if it has met them before. */
  customerRef: string | null;
  plan: PaidPlan;
  amount: number;
  currency: string;
  successUrl: string;
  cancelUrl: string;
  origin: string;
}

interface Term {
  startMs: number;
  endMs: number;
}

/** What can happen to a subscription, whoever says so. Each is known by what it is about, and happens once. */
export type Fact =
  | { kind: 'paid'; paymentId: string; subscriptionRef: string; customerRef: string | null; term: Term }
  | {
      kind: 'renewed';
      subscriptionRef: string;
      invoiceRef: string;
      amount: number;
      currency: string;
      term: Term;
    }
  | { kind: 'payment_failed'; subscriptionRef: string; invoiceRef: string; atMs: number; term: Term }
  | { kind: 'ended'; subscriptionRef: string; atMs: number };

export interface Notification {
  id: string;
  type: string;
  facts: Fact[];
}

export interface Provider {
  name: ProviderName;
  /** A page where the customer pays. */
  startCheckout: (checkout: Checkout) => Promise<{ checkoutUrl: string; checkoutRef: string }>;
  /** A checkout that another one has replaced can't be paid any more. */
  expireCheckout: (checkoutRef: string) => Promise<void>;
  cancel: (subscriptionRef: string, at: 'period_end' | 'now') => Promise<void>;
  /** What a signed notification says, or null if the signature is wrong. */
  readNotification: (body: string, headers: Headers) => Promise<Notification | null>;
}
