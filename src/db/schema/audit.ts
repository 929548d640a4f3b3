import { sql } from 'drizzle-orm';
import { integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { ACTOR_KINDS, AUDIT_ACTIONS, type AuditDetails } from '../../shared/rules/audit.ts';

/**
 * Who did what, with the time in the id. What belongs to signing in is recorded in the first database, everything else in
 * the account's own. The migration makes it a table without rowids, so that an entry costs a single row.
 */
export const auditLog = sqliteTable(
  'audit_log',
  {
    accountId: text('account_id').notNull(),
    id: text().notNull(),
    action: text({ enum: AUDIT_ACTIONS }).notNull(),
    actorKind: text('actor_kind', { enum: ACTOR_KINDS }).notNull(),
    actorId: text('actor_id'),
    /** The id of what was changed, or the code of a product. Null if it is the account. */
    target: text(),
    ip: text(),
    details: text({ mode: 'json' }).$type<AuditDetails>(),
    /** What a read has in common with its repeats within the hour, which leave no entry. */
    readKey: text('read_key'),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    uniqueIndex('audit_log_reads')
      .on(table.accountId, table.readKey)
      .where(sql`${table.readKey} IS NOT NULL`),
  ],
);

/** Where scheduled work that visits all accounts continues in its next run. */
export const scheduledPositions = sqliteTable('scheduled_positions', {
  work: text().primaryKey(),
  position: text().notNull(),
});

/**
 * Durable Objects that are not in their usual state, for the operator's metrics. An object writes its row at most once a
 * minute, and deletes it when it is well again.
 */
export const objectStates = sqliteTable(
  'object_states',
  {
    accountId: text('account_id').notNull(),
    object: text({ enum: ['gate', 'outbox'] }).notNull(),
    /** 1 while a gate loads its copy of the account. */
    loading: integer().notNull(),
    /** Deliveries that wait for a retry, or too long for their first attempt. */
    waiting: integer().notNull(),
    failingEndpoints: integer('failing_endpoints').notNull(),
    /** Licenses, API keys, and products that a gate keeps although D1 has lost them. */
    orphans: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.object] })],
);

export type AuditRow = typeof auditLog.$inferSelect;
