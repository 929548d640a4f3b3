/** Single values of the copy, as JSON. */
export const openFacts = (sql: SqlStorage) => {
  sql.exec('CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID');

  return {
    read: (name: string): unknown => {
      const [row] = sql.exec<{ value: string }>('SELECT value FROM facts WHERE name = ?', name);
      return row ? JSON.parse(row.value) : null;
    },
    write: (name: string, value: unknown) =>
      sql.exec(
        'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
        name,
        JSON.stringify(value),
      ),
    remove: (name: string) => sql.exec('DELETE FROM facts WHERE name = ?', name),
    clear: () => sql.exec('DELETE FROM facts'),
  };
};
