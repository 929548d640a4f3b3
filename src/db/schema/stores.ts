import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core';
import {
  DISPUTE_ACTIONS,
  GRANTS,
  QUANTITIES,
  REFUND_ACTIONS,
  STORE_PROVIDERS,
} from '../../shared/rules/stores.ts';
import type { LicenseTerms } from '../../shared/rules/terms.ts';

/** A secret that another has replaced, and until when it is accepted. */
export interface EarlierSecret {
  sealed: string;
  untilMs: number;
}

/** Where the account sells. Secrets are sealed. */
export const stores = sqliteTable(
  'stores',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    provider: text({ enum: STORE_PROVIDERS }).notNull(),
    name: text().notNull(),
    /** Null until it is known: some providers make it once they know the store's URL. */
    secret: text(),
    earlierSecrets: text('earlier_secrets', { mode: 'json' }).$type<EarlierSecret[]>().notNull().default([]),
    apiKey: text('api_key'),
    acceptTest: integer('accept_test', { mode: 'boolean' }).notNull().default(false),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    lastEventAt: integer('last_event_at'),
    /** When to ask the API for what has happened. Null if the store has no API key. */
    checkAt: integer('check_at'),
    /** Everything before this time is known. */
    checkedThrough: integer('checked_through').notNull().default(0),
    /** Where a check goes on that was not finished, and until when it looks. */
    checkCursor: text('check_cursor'),
    checkUntil: integer('check_until'),
    /** Checks that have failed since the last success, and what the provider has answered. */
    checkFailures: integer('check_failures').notNull().default(0),
    checkProblem: text('check_problem'),
  },
  (table) => [
    index('stores_by_account').on(table.accountId, table.id),
    index('stores_to_check')
      .on(table.checkAt)
      .where(sql`${table.checkAt} IS NOT NULL`),
    // Sealed secrets begin with the name of their sealing key.
    index('stores_by_sealing_key')
      .on(table.secret)
      .where(sql`${table.secret} IS NOT NULL`),
    index('stores_by_api_sealing_key')
      .on(table.apiKey)
      .where(sql`${table.apiKey} IS NOT NULL`),
  ],
);

/** What a price, variant, or product of a store means here. `ref` is the store's own id. */
export const offers = sqliteTable(
  'offers',
  {
    accountId: text('account_id').notNull(),
    storeId: text('store_id').notNull(),
    ref: text().notNull(),
    product: text().notNull(),
    grant: text({ enum: GRANTS }).notNull(),
    days: integer(),
    quantity: text({ enum: QUANTITIES }).notNull(),
    terms: text({ mode: 'json' }).$type<LicenseTerms>().notNull(),
    graceDays: integer('grace_days').notNull(),
    onRefund: text('on_refund', { enum: REFUND_ACTIONS }).notNull(),
    onDispute: text('on_dispute', { enum: DISPUTE_ACTIONS }).notNull(),
    mail: integer({ mode: 'boolean' }).notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** When to let more of the purchases be decided that have waited for it. Null once none waits. */
    decideAt: integer('decide_at'),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.ref] }),
    index('offers_by_account').on(table.accountId),
    index('offers_to_decide')
      .on(table.accountId, table.decideAt)
      .where(sql`${table.decideAt} IS NOT NULL`),
    index('offers_due')
      .on(table.decideAt)
      .where(sql`${table.decideAt} IS NOT NULL`),
  ],
);

/** What was sent to a store's URL. Equal bodies share a row. Bodies are sealed. */
export const storeMessages = sqliteTable(
  'store_messages',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    storeId: text('store_id').notNull(),
    /** Of the body, by which a copy is known. */
    hash: text().notNull(),
    /** The provider's word for what has happened. */
    type: text(),
    /** Null if it is not kept, because it says nothing, or is about somebody who was erased. */
    body: text(),
    topic: text(),
    times: integer().notNull().default(1),
    receivedAt: integer('received_at').notNull(),
    /** When to read it, or to ask the provider what it doesn't say. Null once that is done. */
    readAt: integer('read_at'),
    tries: integer().notNull().default(0),
    /** What is still to be asked. Null until it was read. */
    asks: text({ mode: 'json' }).$type<string[]>(),
    /** Why it can't be read, or what the provider has answered. */
    problem: text(),
  },
  (table) => [
    unique('store_messages_by_hash').on(table.storeId, table.hash),
    index('store_messages_by_account').on(table.accountId, table.receivedAt),
    index('store_messages_to_read')
      .on(table.storeId, table.readAt)
      .where(sql`${table.readAt} IS NOT NULL`),
    index('store_messages_due')
      .on(table.readAt)
      .where(sql`${table.readAt} IS NOT NULL`),
    index('store_messages_by_time').on(table.receivedAt),
    index('store_messages_by_sealing_key')
      .on(sql`substr("body", 1, 40)`)
      .where(sql`${table.body} IS NOT NULL`),
  ],
);

export type StoreRow = typeof stores.$inferSelect;
export type OfferRow = typeof offers.$inferSelect;
export type StoreMessageRow = typeof storeMessages.$inferSelect;
