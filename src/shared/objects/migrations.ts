// Migrations of the tables in a Durable Object. An object that an older release created still has the older tables, which
// `CREATE TABLE IF NOT EXISTS` doesn't change.

const VERSION_TABLE =
  'CREATE TABLE IF NOT EXISTS storage_version (only INTEGER PRIMARY KEY, version INTEGER NOT NULL)';

/**
 * Runs the steps that this object hasn't run yet, in one transaction, and stores how many have run. Call it in the
 * constructor. Never change a step that has been released: append a new one.
 */
export const migrateObject = (storage: DurableObjectStorage, steps: readonly string[]) => {
  const { sql } = storage;
  sql.exec(VERSION_TABLE);
  const [row] = sql.exec<{ version: number }>('SELECT version FROM storage_version');
  const version = row?.version ?? 0;
  // After a rollback, the tables may be newer than this list. A step that the previous release can't work with has to be
  // announced in docs/running.md.
  if (version >= steps.length) return;
  storage.transactionSync(() => {
    for (const step of steps.slice(version)) sql.exec(step);
    sql.exec(
      'INSERT INTO storage_version (only, version) VALUES (1, ?) ON CONFLICT DO UPDATE SET version = excluded.version',
      steps.length,
    );
  });
};
