import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
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
