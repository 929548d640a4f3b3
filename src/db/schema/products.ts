import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { ProductTerms } from '../../shared/rules/terms.ts';

/** A license whose `product` is a product's code has that product's terms. */
export const products = sqliteTable(
  'products',
  {
    accountId: text('account_id').notNull(),
    code: text().notNull(),
    name: text(),
    terms: text({ mode: 'json' }).$type<ProductTerms>().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.code] })],
);

/** What the emails to a product's buyers say besides the key. */
export const productMails = sqliteTable(
  'product_mails',
  {
    accountId: text('account_id').notNull(),
    product: text().notNull(),
    fromName: text('from_name'),
    intro: text(),
    supportUrl: text('support_url'),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.product] })],
);

export type ProductRow = typeof products.$inferSelect;
export type ProductMailRow = typeof productMails.$inferSelect;
