import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { WebhookEvent } from '../../shared/events.ts';

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
