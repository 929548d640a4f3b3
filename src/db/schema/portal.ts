import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { PortalPermissions, ProductPermissions } from '../../shared/rules/portal.ts';

/** An account's portal for its customers. In the first database, where its slug is unique among all accounts. */
export const portals = sqliteTable(
  'portals',
  {
    accountId: text('account_id').primaryKey(),
    slug: text().unique(),
    /** The earlier slug, which no other account gets for a while: customers still have its links. */
    formerSlug: text('former_slug'),
    formerUntil: integer('former_until'),
    enabled: integer({ mode: 'boolean' }).notNull(),
    name: text(),
    accentColor: text('accent_color'),
    supportUrl: text('support_url'),
    allow: text({ mode: 'json' }).$type<PortalPermissions>().notNull(),
    /** What a product's licenses allow instead, by its code. */
    products: text({ mode: 'json' }).$type<Record<string, ProductPermissions>>().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [
    index('portals_by_former_slug')
      .on(table.formerSlug)
      .where(sql`${table.formerSlug} IS NOT NULL`),
  ],
);

/** Sessions of customers in the portal. Like all that follows, in the account's own database. */
export const portalSessions = sqliteTable(
  'portal_sessions',
  {
    tokenHash: text('token_hash').primaryKey(),
    accountId: text('account_id').notNull(),
    id: text().notNull(),
    /** Whose licenses it shows, in lower case. */
    email: text().notNull(),
    /** The only license that it shows, if the seller has opened it for that one. */
    licenseId: text('license_id'),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** Of the last call, as of an hour ago at most. */
    lastSeenAt: integer('last_seen_at').notNull(),
    ip: text(),
    userAgent: text('user_agent'),
  },
  (table) => [
    index('portal_sessions_by_customer').on(table.accountId, table.email, table.createdAt),
    index('portal_sessions_by_expiry').on(table.expiresAt),
  ],
);

/** `open` is of the seller's application, a `code` is typed, and the others are links of emails. */
export const PORTAL_TOKEN_PURPOSES = ['sign_in', 'open', 'code', 'change_from', 'change_to'] as const;

/** Links and codes that let a customer in. Only their hashes are stored. */
export const portalTokens = sqliteTable(
  'portal_tokens',
  {
    tokenHash: text('token_hash').primaryKey(),
    accountId: text('account_id').notNull(),
    purpose: text({ enum: PORTAL_TOKEN_PURPOSES }).notNull(),
    /** The address that it was sent to, in lower case. */
    email: text().notNull(),
    /** The license whose key a code belongs to, or the only one that the session is to show. */
    licenseId: text('license_id'),
    /** The change of address that it confirms. */
    changeId: text('change_id'),
    /** Where the page leads back to. */
    returnUrl: text('return_url'),
    expiresAt: integer('expires_at').notNull(),
    /** Codes that were tried. */
    tries: integer().notNull().default(0),
  },
  (table) => [
    index('portal_tokens_by_customer').on(table.accountId, table.email),
    index('portal_tokens_by_expiry').on(table.expiresAt),
  ],
);

/** Changes of customers' addresses that are not made yet. Both addresses confirm one. */
export const portalEmailChanges = sqliteTable(
  'portal_email_changes',
  {
    accountId: text('account_id').notNull(),
    email: text().notNull(),
    id: text().notNull(),
    newEmail: text('new_email').notNull(),
    /** The only license that gets the address, if the session shows no other. */
    licenseId: text('license_id'),
    fromConfirmedAt: integer('from_confirmed_at'),
    toConfirmedAt: integer('to_confirmed_at'),
    /** Once both have confirmed, the change doesn't expire, and this is its place among those that are to be made. */
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.email] }),
    index('portal_email_changes_by_new').on(table.accountId, table.newEmail),
    index('portal_email_changes_by_expiry').on(table.expiresAt),
    index('portal_email_changes_to_make')
      .on(table.expiresAt)
      .where(sql`${table.fromConfirmedAt} IS NOT NULL AND ${table.toConfirmedAt} IS NOT NULL`),
  ],
);

export type PortalRow = typeof portals.$inferSelect;
export type PortalSessionRow = typeof portalSessions.$inferSelect;
export type PortalTokenRow = typeof portalTokens.$inferSelect;
export type EmailChangeRow = typeof portalEmailChanges.$inferSelect;
