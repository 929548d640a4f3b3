import type { PROVIDERS } from '../db/schema.ts';
import type { PaidPlan } from '../shared/rules/plans.ts';

// The interface of a payment provider. The rest of the billing code works with any provider.

export type ProviderName = (typeof PROVIDERS)[number];

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

interface Period {
  startMs: number;
  endMs: number;
}

/** A change to a payment or subscription, as reported by any provider. Each fact is applied once. */
export type Fact =
  | { kind: 'paid'; paymentId: string; subscriptionRef: string; customerRef: string | null; period: Period }
  | {
      kind: 'renewed';
      subscriptionRef: string;
      invoiceRef: string;
      amount: number;
      currency: string;
      period: Period;
    }
  | { kind: 'payment_failed'; subscriptionRef: string; invoiceRef: string; atMs: number; period: Period }
  /** When the subscription ends because it was canceled, or null. It can change back. */
  | {
      kind: 'cancellation';
      subscriptionRef: string;
      endsAtMs: number | null;
      isFailing: boolean;
      readAtMs: number;
    }
  | { kind: 'ended'; subscriptionRef: string; atMs: number };

/** What a provider can be asked about. */
export type Subject =
  | { kind: 'checkout'; ref: string }
  | { kind: 'subscription'; ref: string; endsAtMs: number | null };

export interface CurrentState {
  facts: Fact[];
  /** Whether the checkout can't be paid anymore. False for a subscription. */
  hasExpired: boolean;
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
  cancel: (subscriptionRef: string, at: 'period_end' | 'now') => Promise<void>;
  /** Reads the current state of a checkout or subscription, whose notifications may have been lost. */
  readState: (subject: Subject) => Promise<CurrentState>;
  /** Returns the content of a signed notification, or null if the signature is invalid. */
  readNotification: (body: string, headers: Headers) => Promise<Notification | null>;
}
