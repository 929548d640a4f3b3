import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { DatabasePlace } from '../../shared/config/places.ts';

/** Which database this is, in one row: see src/db/identity.ts. It is written when the database is first used. */
export const databaseIdentity = sqliteTable('database_identity', {
  only: integer().primaryKey(),
  /** Is the same in all databases of a service. */
  serviceId: text('service_id').notNull(),
  /** The name of the database's binding. */
  binding: text().notNull(),
  /** What DATABASES said when it was last accepted. */
  places: text({ mode: 'json' }).$type<DatabasePlace[]>().notNull(),
});

/**
 * Accounts whose database doesn't follow from their id, in the first database: see src/db/places.ts. A row that changes gets a
 * new `seq`, by which others read only what has changed.
 */
export const accountPlaces = sqliteTable('account_places', {
  seq: integer().primaryKey({ autoIncrement: true }),
  /** The account. It isn't called `accountId`, so that the row outlives the others of an account that is being erased. */
  id: text().notNull().unique(),
  /** The name of the binding of the account's database. */
  binding: text().notNull(),
  changedAt: integer('changed_at').notNull(),
});

export const MOVED_STATES = ['leaving', 'gone', 'arriving', 'guest'] as const;

/**
 * What this database knows of accounts that move: those that are leaving it or have left, those that are arriving, and the guests,
 * who are here although their id belongs elsewhere. Only a guest's rows can be written: see src/db/guarded.ts.
 */
export const movedAccounts = sqliteTable(
  'moved_accounts',
  {
    id: text().primaryKey(),
    state: text({ enum: MOVED_STATES }).notNull(),
    /** Where an account moves to that is leaving, and where it comes from that is arriving. */
    other: text(),
    changedAt: integer('changed_at').notNull(),
  },
  (table) => [
    index('moved_accounts_on_the_way')
      .on(table.state)
      .where(sql`${table.state} IN ('leaving', 'arriving')`),
  ],
);
