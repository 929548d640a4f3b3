import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, unique, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { PAID_PLANS } from '../../shared/rules/plans.ts';
import { accounts } from './accounts.ts';

export const PROVIDERS = ['sandbox', 'stripe'] as const;
export const PAYMENT_STATUSES = ['pending', 'paid', 'declined', 'replaced'] as const;

export const payments = sqliteTable(
  'payments',
  {
    id: text().primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    provider: text({ enum: PROVIDERS }).notNull(),
    plan: text({ enum: PAID_PLANS }).notNull(),
    status: text({ enum: PAYMENT_STATUSES }).notNull(),
    amount: integer().notNull(),
    currency: text().notNull(),
    /** The provider's id of the checkout, or of the invoice that renewed a subscription. */
    checkoutRef: text('checkout_ref'),
    successUrl: text('success_url'),
    cancelUrl: text('cancel_url'),
    createdAt: integer('created_at').notNull(),
    paidAt: integer('paid_at'),
  },
  (table) => [
    index('payments_by_account').on(table.accountId, table.id),
    // The database itself rules out a second pending payment, so only one checkout is payable.
    uniqueIndex('payments_pending')
      .on(table.accountId)
      .where(sql`${table.status} = 'pending'`),
  ],
);

export const SUBSCRIPTION_STATUSES = ['active', 'past_due', 'cancelled', 'ended'] as const;
export const subscriptions = sqliteTable(
  'subscriptions',
  {
    id: text().primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    provider: text({ enum: PROVIDERS }).notNull(),
    providerRef: text('provider_ref').notNull(),
    plan: text({ enum: PAID_PLANS }).notNull(),
    status: text({ enum: SUBSCRIPTION_STATUSES }).notNull(),
    periodStart: integer('period_start').notNull(),
    periodEnd: integer('period_end').notNull(),
    cancelledAt: integer('cancelled_at'),
    endsAt: integer('ends_at'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [
    // The database itself rules out a second live subscription.
    uniqueIndex('subscriptions_live')
      .on(table.accountId)
      .where(sql`${table.status} <> 'ended'`),
    unique('subscriptions_by_ref').on(table.provider, table.providerRef),
  ],
);

/** The condition of the index `subscriptions_live`. A `cancelled` subscription stays live until it ends. */
export const isLive = sql`${subscriptions.status} <> 'ended'`;

/** The names of facts that have been applied, so that none is applied twice. */
export const appliedFacts = sqliteTable('applied_facts', {
  name: text().primaryKey(),
  appliedAt: integer('applied_at').notNull(),
});

export type PaymentRow = typeof payments.$inferSelect;
export type SubscriptionRow = typeof subscriptions.$inferSelect;
