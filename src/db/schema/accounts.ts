import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { PAID_PLANS, PLAN_NAMES } from '../../shared/rules/plans.ts';
import { REGIONS } from '../../shared/rules/regions.ts';

export const accounts = sqliteTable(
  'accounts',
  {
    id: text().primaryKey(),
    /** A copy of the user's email address, which the account's own work needs. */
    email: text().notNull(),
    name: text(),
    /** Empty. Triggers fill it in for the previous release: see the migration `users`. */
    passwordHash: text('password_hash').notNull(),
    plan: text({ enum: PLAN_NAMES }).notNull().default('free'),
    periodStart: integer('period_start'),
    periodEnd: integer('period_end'),
    planUntil: integer('plan_until'),
    /** A plan that the operator has granted without payment, and its end, if it has one. */
    grantedPlan: text('granted_plan', { enum: PAID_PLANS }),
    grantedUntil: integer('granted_until'),
    /** When the operator suspended the account. */
    suspendedAt: integer('suspended_at'),
    /** The payment provider's id of this customer. */
    customerRef: text('customer_ref'),
    /** Origins, besides this service, that a checkout may send the browser back to. */
    allowedOrigins: text('allowed_origins', { mode: 'json' }).$type<string[]>().notNull().default([]),
    /** Where the account's Durable Objects were placed. Null if that was left to the first caller. */
    homeRegion: text('home_region', { enum: REGIONS }),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [index('accounts_by_email').on(table.email)],
);

/** Who can sign in. Users are in the first database, wherever their account is. */
export const users = sqliteTable('users', {
  accountId: text('account_id').primaryKey(),
  email: text().notNull().unique(),
  passwordHash: text('password_hash').notNull(),
});

export const sessions = sqliteTable(
  'sessions',
  {
    tokenHash: text('token_hash').primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => users.accountId),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [
    index('sessions_by_expiry').on(table.expiresAt),
    index('sessions_by_account').on(table.accountId, table.createdAt),
  ],
);

/** Attempts per fixed window. `bucket` is a hash of the limit's name and its subject, for example an email address. */
export const throttles = sqliteTable(
  'throttles',
  {
    bucket: text().primaryKey(),
    attempts: integer().notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** Attempts under way. They take up room until it is known whether they count. */
    pending: integer().notNull().default(0),
    /** When the pending attempts count as dead. */
    pendingUntil: integer('pending_until').notNull().default(0),
  },
  (table) => [index('throttles_by_expiry').on(table.expiresAt)],
);

export type AccountRow = typeof accounts.$inferSelect;
