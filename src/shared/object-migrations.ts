// Versions of the tables that a Durable Object owns. Objects created by older releases still have the older tables,
// and a wrong `CREATE TABLE IF NOT EXISTS` would leave them so.

const VERSION_TABLE =
  'CREATE TABLE IF NOT EXISTS storage_version (only INTEGER PRIMARY KEY, version INTEGER NOT NULL)';

/**
 * Runs the steps that this object hasn't run yet, in one transaction, and remembers how many have run. Call it
 * in the constructor. Released steps never change: append a step instead.
 */
export const migrateObject = (storage: DurableObjectStorage, steps: readonly string[]) => {
  const { sql } = storage;
  sql.exec(VERSION_TABLE);
  const [row] = sql.exec<{ version: number }>('SELECT version FROM storage_version');
  const version = row?.version ?? 0;
  // A rollback may meet tables of a newer release: steps must be compatible with the release before.
  if (version >= steps.length) return;
  storage.transactionSync(() => {
    for (const step of steps.slice(version)) sql.exec(step);
    sql.exec(
      'INSERT INTO storage_version (only, version) VALUES (1, ?) ON CONFLICT DO UPDATE SET version = excluded.version',
      steps.length,
    );
  });
};
