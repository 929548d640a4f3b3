import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { WebhookEvent } from '../../shared/text/events.ts';

/** `lifted` is a license that is no longer revoked. Of a `license`, a gate takes a revocation to be final. */
export const FEED_KINDS = [
  'account',
  'key',
  'license',
  'lifted',
  'product',
  'erased',
  'deleted',
  'event',
] as const;

/**
 * Changes that an account's gate has not applied yet. `ref` is the id of the changed or deleted row, the code of a product, a license
 * key that no license has anymore (`erased`) or, for an event, the id of the event in `payload`.
 */
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
