import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { STORED_LICENSE_STATUSES } from '../../shared/rules/licenses.ts';
import type { SoldOffer, WantedLicense } from '../../shared/rules/sold-offer.ts';
import { PURCHASE_STATUSES, STORE_PROVIDERS } from '../../shared/rules/stores.ts';

/** What somebody has bought. It is what its facts say, and each decision on them sets a later `version`. */
export const purchases = sqliteTable(
  'purchases',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    storeId: text('store_id').notNull(),
    provider: text({ enum: STORE_PROVIDERS }).notNull(),
    status: text({ enum: PURCHASE_STATUSES }).notNull(),
    /** Why it has no license, or not all of them. */
    reason: text(),
    /** The number that the store shows people. */
    orderNumber: text('order_number'),
    customerEmail: text('customer_email'),
    customerName: text('customer_name'),
    /** The store's customer, whose address may come later. */
    buyerRef: text('buyer_ref'),
    isTest: integer('is_test', { mode: 'boolean' }).notNull().default(false),
    /** Its customer was erased, and no fact brings them back. */
    isErased: integer('is_erased', { mode: 'boolean' }).notNull().default(false),
    /** The product that the seller has named for what no offer is for. */
    assigned: text(),
    /** When to decide again. Null unless something is missing. */
    decideAt: integer('decide_at'),
    tries: integer().notNull().default(0),
    version: integer().notNull().default(1),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [
    index('purchases_by_account').on(table.accountId, table.id),
    index('purchases_by_status').on(table.accountId, table.status, table.id),
    index('purchases_by_store').on(table.storeId, table.status, table.id),
    index('purchases_by_email').on(table.accountId, sql`lower("customer_email")`),
    index('purchases_by_order').on(table.accountId, table.orderNumber),
    index('purchases_by_buyer')
      .on(table.storeId, table.buyerRef)
      .where(sql`${table.buyerRef} IS NOT NULL`),
    index('purchases_to_decide')
      .on(table.storeId, table.decideAt)
      .where(sql`${table.decideAt} IS NOT NULL`),
    index('purchases_due')
      .on(table.decideAt)
      .where(sql`${table.decideAt} IS NOT NULL`),
  ],
);

/** By which purchase each thing of a store is known. Of one that waits for an offer, also the ids that the offer may have. */
export const purchaseThings = sqliteTable(
  'purchase_things',
  {
    accountId: text('account_id').notNull(),
    storeId: text('store_id').notNull(),
    thing: text().notNull(),
    /** The store's own id in it, which people look for. */
    ref: text().notNull(),
    purchaseId: text('purchase_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.thing] }),
    index('purchase_things_by_ref').on(table.accountId, table.ref),
    index('purchase_things_by_purchase').on(table.purchaseId),
  ],
);

/** Facts by their names. Those about a customer of the store have no purchase. */
export const purchaseFacts = sqliteTable(
  'purchase_facts',
  {
    accountId: text('account_id').notNull(),
    storeId: text('store_id').notNull(),
    name: text().notNull(),
    purchaseId: text('purchase_id'),
    /** A `StoreFact`, as JSON. */
    fact: text().notNull(),
    /** When it was first taken. Of a customer of the store who was erased: when that was. */
    takenAt: integer('taken_at').notNull(),
    /** The fact has lost the person that it named. A customer's may have the address with which they have bought since. */
    isErased: integer('is_erased', { mode: 'boolean' }).notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.storeId, table.name] }),
    index('purchase_facts_by_account').on(table.accountId),
    index('purchase_facts_by_purchase')
      .on(table.purchaseId)
      .where(sql`${table.purchaseId} IS NOT NULL`),
  ],
);

/** Which messages are about a purchase, so that an erased person's are found. */
export const purchaseMessages = sqliteTable(
  'purchase_messages',
  {
    accountId: text('account_id').notNull(),
    purchaseId: text('purchase_id').notNull(),
    messageId: text('message_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.purchaseId, table.messageId] }),
    index('purchase_messages_by_message').on(table.messageId),
    index('purchase_messages_by_account').on(table.accountId),
  ],
);

/** The licenses of a purchase. The key rules out that one is made twice. */
export const purchaseLicenses = sqliteTable(
  'purchase_licenses',
  {
    accountId: text('account_id').notNull(),
    purchaseId: text('purchase_id').notNull(),
    /** What was bought, and which of so many. */
    slot: integer().notNull(),
    number: integer().notNull(),
    licenseId: text('license_id').notNull(),
    /** What the purchase wanted of the license last. What differs from it in the license was changed by hand. */
    wanted: text({ mode: 'json' }).$type<WantedLicense>().notNull(),
    /** The offer by which it was made, or changed last. */
    offer: text({ mode: 'json' }).$type<SoldOffer>().notNull(),
    /** The status that the purchase has set, and the one before, to which it leads back. Null if none is its own. */
    setStatus: text('set_status', { enum: STORED_LICENSE_STATUSES }),
    returnsTo: text('returns_to', { enum: STORED_LICENSE_STATUSES }),
  },
  (table) => [
    primaryKey({ columns: [table.purchaseId, table.slot, table.number] }),
    index('purchase_licenses_by_license').on(table.accountId, table.licenseId),
  ],
);

/** Emails to buyers: the first with number 0, those with keys that were made later, and those that the seller has asked for. */
export const purchaseMails = sqliteTable(
  'purchase_mails',
  {
    accountId: text('account_id').notNull(),
    purchaseId: text('purchase_id').notNull(),
    number: integer().notNull(),
    /** When to send it. Null once it is sent, or nothing is left to be sent. */
    dueAt: integer('due_at'),
    sentAt: integer('sent_at'),
    tries: integer().notNull().default(0),
    /** What it waits for, or why it was not sent. */
    problem: text(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.purchaseId, table.number] }),
    index('purchase_mails_by_account').on(table.accountId, table.dueAt),
    index('purchase_mails_due')
      .on(table.dueAt)
      .where(sql`${table.dueAt} IS NOT NULL`),
  ],
);

export type PurchaseRow = typeof purchases.$inferSelect;
export type PurchaseFactRow = typeof purchaseFacts.$inferSelect;
export type PurchaseLicenseRow = typeof purchaseLicenses.$inferSelect;
export type PurchaseMailRow = typeof purchaseMails.$inferSelect;
