import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core';
import type { WebhookEvent } from '../shared/events.ts';
import { PLAN_NAMES } from '../shared/plans.ts';

// Instants are milliseconds since 1970, dates are YYYY-MM-DD. No cascades: rebuilding a table on D1
// would silently delete the rows behind them.

export const KEY_SCOPES = ['full', 'verify'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export const LICENSE_STATUSES = ['active', 'suspended', 'revoked'] as const;
export type StoredLicenseStatus = (typeof LICENSE_STATUSES)[number];

export type Metadata = Record<string, string | number | boolean>;

export const accounts = sqliteTable('accounts', {
  id: text().primaryKey(),
  email: text().notNull().unique(),
  name: text(),
  passwordHash: text('password_hash').notNull(),
  plan: text({ enum: PLAN_NAMES }).notNull().default('free'),
  periodStart: integer('period_start'),
  periodEnd: integer('period_end'),
  planUntil: integer('plan_until'),
  /** The payment provider's name of this customer. */
  customerRef: text('customer_ref'),
  /** Where a checkout may send a browser back to, besides this service. */
  allowedOrigins: text('allowed_origins', { mode: 'json' }).$type<string[]>().notNull().default([]),
  createdAt: integer('created_at').notNull(),
});

export const sessions = sqliteTable(
  'sessions',
  {
    tokenHash: text('token_hash').primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [index('sessions_by_expiry').on(table.expiresAt)],
);

/** Attempts in a fixed window; `bucket` is a hash of what is throttled. */
export const throttles = sqliteTable(
  'throttles',
  {
    bucket: text().primaryKey(),
    attempts: integer().notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [index('throttles_by_expiry').on(table.expiresAt)],
);

/** A deleted key keeps its row, without anything that could verify or reveal it. */
export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: text().notNull(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    name: text(),
    scope: text({ enum: KEY_SCOPES }).notNull(),
    fingerprint: text().notNull(),
    sealed: text().notNull(),
    maskedKey: text('masked_key').notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at'),
    deletedAt: integer('deleted_at'),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index('api_keys_live')
      .on(table.accountId, table.id)
      .where(sql`${table.deletedAt} IS NULL`),
  ],
);

/** `seq` is what the search index knows a license by. */
export const licenses = sqliteTable(
  'licenses',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    id: text().notNull(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    licenseKey: text('license_key').notNull(),
    status: text({ enum: LICENSE_STATUSES }).notNull(),
    product: text(),
    customerEmail: text('customer_email').notNull(),
    customerName: text('customer_name'),
    expiresAt: text('expires_at'),
    metadata: text({ mode: 'json' }).$type<Metadata>().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [
    unique('licenses_by_id').on(table.accountId, table.id),
    unique('licenses_by_key').on(table.accountId, table.licenseKey),
    index('licenses_by_status').on(table.accountId, table.status, table.seq),
    index('licenses_by_email').on(table.accountId, sql`lower(${table.customerEmail})`, table.seq),
    index('licenses_by_expiry')
      .on(table.accountId, table.expiresAt, table.id)
      .where(sql`${table.status} = 'active' AND ${table.expiresAt} IS NOT NULL`),
  ],
);

/** How many licenses an account has by status and expiry; triggers keep it ('' = perpetual). */
export const licenseCounts = sqliteTable(
  'license_counts',
  {
    accountId: text('account_id').notNull(),
    status: text({ enum: LICENSE_STATUSES }).notNull(),
    expiresAt: text('expires_at').notNull(),
    licenses: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.status, table.expiresAt] })],
);

/** What a license's history is about, named as the API names it. */
export interface LicenseSnapshot {
  status: StoredLicenseStatus;
  expires_at: string | null;
  product: string | null;
  customer_email: string;
  customer_name: string | null;
  metadata: Metadata;
}

/** A trigger writes them, so that no change of a license goes without; `seq` counts within the license. */
export const licenseChanges = sqliteTable(
  'license_changes',
  {
    accountId: text('account_id').notNull(),
    licenseId: text('license_id').notNull(),
    seq: integer().notNull(),
    at: integer().notNull(),
    before: text({ mode: 'json' }).$type<LicenseSnapshot>().notNull(),
    after: text({ mode: 'json' }).$type<LicenseSnapshot>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.licenseId, table.seq] })],
);

/** What a create that carried an Idempotency-Key answered. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    accountId: text('account_id').notNull(),
    key: text().notNull(),
    requestHash: text('request_hash').notNull(),
    licenseId: text('license_id').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.key] }),
    index('idempotency_keys_by_age').on(table.accountId, table.createdAt),
  ],
);

export const FEED_KINDS = ['account', 'key', 'license', 'event'] as const;

/** What an account's gate has yet to learn: `ref` names the row that changed, or the event that `payload` is. */
export const feed = sqliteTable(
  'feed',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    accountId: text('account_id').notNull(),
    kind: text({ enum: FEED_KINDS }).notNull(),
    ref: text().notNull(),
    payload: text({ mode: 'json' }).$type<WebhookEvent>(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [index('feed_by_account').on(table.accountId, table.seq)],
);

export type AccountRow = typeof accounts.$inferSelect;
export type ApiKeyRow = typeof apiKeys.$inferSelect;
export type LicenseRow = typeof licenses.$inferSelect;
