import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, unique, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { DAY_MS } from '../../shared/rules/dates.ts';
import { PAID_PLANS } from '../../shared/rules/plans.ts';
import { accounts } from './accounts.ts';

export const PAYMENT_PROVIDERS = ['sandbox', 'stripe'] as const;
export const PAYMENT_STATUSES = [
  'pending',
  'paid',
  'declined',
  'replaced',
  'expired',
  'refunded',
  'disputed',
] as const;

export const payments = sqliteTable(
  'payments',
  {
    id: text().primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    provider: text({ enum: PAYMENT_PROVIDERS }).notNull(),
    plan: text({ enum: PAID_PLANS }).notNull(),
    status: text({ enum: PAYMENT_STATUSES }).notNull(),
    amount: integer().notNull(),
    currency: text().notNull(),
    /** The provider's id of the checkout, or of the invoice that renewed a subscription. Null once the checkout was ended. */
    checkoutRef: text('checkout_ref'),
    /** Where the checkout is paid. Null until it has started. */
    checkoutUrl: text('checkout_url'),
    successUrl: text('success_url'),
    cancelUrl: text('cancel_url'),
    createdAt: integer('created_at').notNull(),
    paidAt: integer('paid_at'),
    /** The last time the provider was asked about the pending payment. */
    checkedAt: integer('checked_at').notNull().default(0),
    /** When to expire the checkout of the replaced payment again. Null once it can't be paid anymore. */
    expireDueAt: integer('expire_due_at'),
    /** The subscription that was paid for, or that a change of plan is to change. */
    subscriptionId: text('subscription_id'),
    /** The end of the period that was paid for. */
    periodEnd: integer('period_end'),
    refundedAmount: integer('refunded_amount').notNull().default(0),
    /** When to give back the payment, which buys nothing, or end its checkout if it isn't paid. Null once that is done. */
    refundDueAt: integer('refund_due_at'),
  },
  (table) => [
    index('payments_by_account').on(table.accountId, table.id),
    // The database itself rules out a second pending payment, so only one checkout is payable.
    uniqueIndex('payments_pending')
      .on(table.accountId)
      .where(sql`${table.status} = 'pending'`),
    index('payments_to_prune')
      .on(table.createdAt)
      .where(sql`${table.status} IN ('replaced', 'expired')`),
    index('payments_to_check')
      .on(table.checkedAt)
      .where(sql`${table.status} = 'pending'`),
    index('payments_to_expire')
      .on(table.expireDueAt)
      .where(sql`${table.expireDueAt} IS NOT NULL`),
    index('payments_to_refund')
      .on(table.refundDueAt)
      .where(sql`${table.refundDueAt} IS NOT NULL`),
  ],
);

/** The condition of the indexes of pending payments. SQLite uses them only if the status is a literal. */
export const isPending = sql`${payments.status} = 'pending'`;

/** The condition of the index `payments_to_prune`. */
export const isUnpaid = sql`${payments.status} IN ('replaced', 'expired')`;

export const SUBSCRIPTION_STATUSES = ['active', 'past_due', 'cancelled', 'ended'] as const;
export const subscriptions = sqliteTable(
  'subscriptions',
  {
    id: text().primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    provider: text({ enum: PAYMENT_PROVIDERS }).notNull(),
    providerRef: text('provider_ref').notNull(),
    plan: text({ enum: PAID_PLANS }).notNull(),
    status: text({ enum: SUBSCRIPTION_STATUSES }).notNull(),
    periodStart: integer('period_start').notNull(),
    periodEnd: integer('period_end').notNull(),
    cancelledAt: integer('cancelled_at'),
    endsAt: integer('ends_at'),
    /** Since when an invoice is overdue. Null once it's paid. */
    failedAt: integer('failed_at'),
    /** The invoice whose failure was announced last. */
    failedRef: text('failed_ref'),
    /** Since when a payment for the current period is disputed. */
    disputedAt: integer('disputed_at'),
    /** What was read at the provider before this time is out of date. */
    readAt: integer('read_at').notNull().default(0),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** The last time the provider was asked about the subscription because it was past due or over. */
    checkedAt: integer('checked_at').notNull().default(0),
    /** When to ask the provider: once the subscription is past due or over, and then once a day. */
    checkAt: integer('check_at').generatedAlwaysAs(
      sql.raw(
        `max(checked_at + ${DAY_MS}, CASE status WHEN 'past_due' THEN 0 ELSE coalesce(ends_at, period_end) END)`,
      ),
      { mode: 'virtual' },
    ),
  },
  (table) => [
    // The database itself rules out a second live subscription.
    uniqueIndex('subscriptions_live')
      .on(table.accountId)
      .where(sql`${table.status} <> 'ended'`),
    unique('subscriptions_by_ref').on(table.provider, table.providerRef),
    index('subscriptions_to_check')
      .on(table.checkAt)
      .where(sql`${table.status} <> 'ended'`),
  ],
);

/** The condition of the index `subscriptions_live`. A `cancelled` subscription stays live until it ends. */
export const isLive = sql`${subscriptions.status} <> 'ended'`;

/** The names of facts that have been applied, so that none is applied twice. */
export const appliedFacts = sqliteTable(
  'applied_facts',
  {
    name: text().primaryKey(),
    appliedAt: integer('applied_at').notNull(),
  },
  (table) => [index('applied_facts_by_time').on(table.appliedAt)],
);

export type PaymentRow = typeof payments.$inferSelect;
export type SubscriptionRow = typeof subscriptions.$inferSelect;
