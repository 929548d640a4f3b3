import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { KEY_SCOPES } from '../../shared/rules/api-keys.ts';
import { accounts } from './accounts.ts';

/** A deleted key keeps its row for a time, without its fingerprint and its sealed key. */
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
    /** The entry of API_KEY_SECRET that the key needs. */
    secretId: text('secret_id').notNull(),
    maskedKey: text('masked_key').notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at'),
    deletedAt: integer('deleted_at'),
    /** Addresses and CIDR blocks from which the key may be used. Null if it may be used from everywhere. */
    allowedIps: text('allowed_ips', { mode: 'json' }).$type<string[]>(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index('api_keys_live')
      .on(table.accountId, table.id)
      .where(sql`${table.deletedAt} IS NULL`),
    index('api_keys_deleted')
      .on(table.accountId, table.deletedAt)
      .where(sql`${table.deletedAt} IS NOT NULL`),
    // Sealed keys begin with the name of their sealing key.
    index('api_keys_by_sealing_key')
      .on(table.sealed)
      .where(sql`${table.deletedAt} IS NULL`),
    index('api_keys_by_secret')
      .on(table.secretId)
      .where(sql`${table.deletedAt} IS NULL`),
  ],
);

export type ApiKeyRow = typeof apiKeys.$inferSelect;
