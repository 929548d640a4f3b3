import { accountsD1 } from './databases.ts';

/** What a gate copies, and by which it is told of changes. In the order in which foreign keys allow rows to go. */
const TABLES = ['feed', 'license_changes', 'licenses', 'products', 'api_keys'];

/**
 * Notes an account's rows in D1 as they are. Returns a function that restores them, as Time Travel does: later rows are gone, and
 * AUTOINCREMENT gives their numbers out again.
 */
export const noteD1 = async (accountId: string) => {
  const rows = await Promise.all(
    TABLES.map((table) =>
      accountsD1.prepare(`SELECT * FROM ${table} WHERE account_id = ?`).bind(accountId).all(),
    ),
  );
  const stored = await Promise.all(
    TABLES.map((table) =>
      accountsD1
        .prepare('SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0')
        .bind(table)
        .all<{ name: string }>(),
    ),
  );
  const { seq } = (await accountsD1
    .prepare("SELECT seq FROM sqlite_sequence WHERE name = 'feed'")
    .first<{ seq: number }>()) ?? { seq: 0 };
  return async () => {
    const remove = TABLES.map((table) =>
      accountsD1.prepare(`DELETE FROM ${table} WHERE account_id = ?`).bind(accountId),
    );
    const insert = TABLES.flatMap((table, i) =>
      (rows[i]?.results ?? []).map((row) => {
        // Generated columns follow from the others.
        const columns = stored[i]?.results.map(({ name }) => name) ?? [];
        const marks = columns.map(() => '?').join(', ');
        return accountsD1
          .prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`)
          .bind(...columns.map((column) => row[column]));
      }),
    );
    const renumber = accountsD1.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'feed'").bind(seq);
    await accountsD1.batch([...remove, ...insert, renumber]);
  };
};
