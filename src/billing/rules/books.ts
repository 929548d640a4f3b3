import type { PaymentRow, SubscriptionRow } from '../../db/schema.ts';
import type { AuditAction, AuditDetails } from '../../shared/rules/audit.ts';
import type { EventName } from '../../shared/rules/events.ts';
import type { ProviderName } from './fact.ts';

// What the decisions on facts read and write. They are pure, so that a test can play many histories.

/** What is known before a fact. */
export interface Books {
  nowMs: number;
  /** Whether the account is to be erased, so that no payment buys anything. */
  isLeaving: boolean;
  provider: ProviderName;
  /** The account's live subscription. */
  live: SubscriptionRow | null;
  /** The subscription that the fact is about. */
  subscription: SubscriptionRow | null;
  /** The payment that the fact is about. */
  payment: PaymentRow | null;
  /** What was paid for the current period of these subscriptions, and later. */
  current: PaymentRow[];
  /** The change of plan that waits for this subscription. */
  change: PaymentRow | null;
}

export interface BillingEvent {
  name: Extract<EventName, `payment.${string}` | 'subscription.cancelled'>;
  fields: Record<string, string | number>;
}

/** What a fact changes. Rows are as they are afterwards: one whose id is new is inserted. */
export interface Decision {
  accountId: string;
  /** Subscriptions to cancel at the provider at once. Payments to give back are marked with `refundDueAt`. */
  cancels: string[];
  payments: PaymentRow[];
  subscriptions: SubscriptionRow[];
  customerRef: string | null;
  events: BillingEvent[];
  /** Null for a payment that buys nothing: giving it back is what the audit log tells. */
  entry: { action: AuditAction; target: string; details?: AuditDetails } | null;
}

const SETTLED = new Set<PaymentRow['status']>(['paid', 'refunded', 'disputed']);

/** Whether the money of a payment has arrived, even if it was given back. */
export const isSettled = (payment: PaymentRow | null): boolean =>
  payment !== null && SETTLED.has(payment.status);

/**
 * Whether the checkout was ended because its account was deleted. A payment for it buys nothing, even if the owner has come back.
 * The checkout is marked as due for a refund before the provider is asked to end it, and has no reference afterwards.
 */
export const isEnded = ({ status, checkoutRef, refundDueAt }: PaymentRow): boolean =>
  refundDueAt !== null || (status !== 'pending' && checkoutRef === null);

/** A payment refers to its checkout until its invoice is known. Earlier versions kept that reference after the first invoice. */
export const isCheckout = (ref: string): boolean => ref.startsWith('cs_');

/** Returns the payment that an invoice names, unless another invoice has paid for it: a debit can bounce, and be paid after the next. */
export const paidBy = (invoiceRef: string | null, named: PaymentRow | null): PaymentRow | null => {
  const ref = named?.checkoutRef ?? null;
  return ref === null || ref === invoiceRef || isCheckout(ref) ? named : null;
};

export const paymentEvent = (
  name: 'payment.success' | 'payment.refunded' | 'payment.disputed',
  { id, plan, amount, currency }: Pick<PaymentRow, 'id' | 'plan' | 'amount' | 'currency'>,
  fields: Record<string, string | number> = {},
): BillingEvent => ({ name, fields: { payment_id: id, plan, amount, currency, ...fields } });

/** What of a payment was not given back. */
export const kept = ({ amount, refundedAmount }: PaymentRow): number => amount - refundedAmount;
