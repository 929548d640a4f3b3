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

export type ProductRow = typeof products.$inferSelect;
