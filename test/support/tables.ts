// Runs in Node, for the configuration of the tests.
import { DatabaseSync } from 'node:sqlite';
import type { D1Migration } from '@cloudflare/vitest-plugin';

const RECORD =
  'CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)';

/** Returns the statements that make an empty database as it is after all migrations. */
export const tablesAfter = (migrations: D1Migration[]): string => {
  const db = new DatabaseSync(':memory:');
  for (const { queries } of migrations) for (const query of queries) db.exec(query);
  const made = db
    .prepare(
      `SELECT sql FROM sqlite_master LEFT JOIN pragma_table_list AS tables USING (name)
       WHERE sql IS NOT NULL AND tables.type IS NOT 'shadow' AND name NOT LIKE 'sqlite@_%' ESCAPE '@'
       ORDER BY sqlite_master.type = 'table' DESC, sqlite_master.rowid`,
    )
    .all();
  const names = migrations.map(({ name }) => `('${name}')`).join(', ');
  const record = [RECORD, `INSERT INTO d1_migrations (name) VALUES ${names}`];
  return [...made.map(({ sql }) => String(sql)), ...record].map((statement) => `${statement};\n`).join('');
};
