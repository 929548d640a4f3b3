import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const ERASURE_KINDS = ['customer', 'license', 'machines'] as const;

/**
 * What is still to be erased: a customer by their email address, what remains of a deleted license by its id, or the names of
 * the machines of a license, also by its id, up to the time when it passed to another customer.
 */
export const erasures = sqliteTable(
  'erasures',
  {
    accountId: text('account_id').notNull(),
    kind: text({ enum: ERASURE_KINDS }).notNull(),
    subject: text().notNull(),
    untilMs: integer('until_ms').notNull().default(0),
    createdAt: integer('created_at').notNull(),
    /** How far the customer was looked for: after this license. Empty if that has not begun, or has ended. */
    position: text().notNull().default(''),
    /** The names of the customer, which licenses that were erased before no longer have. */
    names: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.kind, table.subject] }),
    index('erasures_by_time').on(table.createdAt),
  ],
);

export type ErasureRow = typeof erasures.$inferSelect;
