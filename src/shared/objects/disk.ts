// The rows of a gate, whatever its tables are. A move copies all of them, the copy of D1 included, so a table that is added
// later moves without a line of code. Triggers log the rows that change meanwhile, whichever statement changes them.

/** Rows of a table as they are now, and the primary keys of rows that no longer exist. */
export interface TableRows {
  table: string;
  columns: string[];
  rows: SqlStorageValue[][];
  gone: SqlStorageValue[][];
}

const PAGE_ROWS = 500;
/** More than a busy account changes while a message is on its way, so that a move under load comes to an end. */
const LOG_ROWS = 2_000;
const PAGE_CHARACTERS = 1_000_000;

const LOG = 'moving_log';

/** The platform's own tables and the log don't move. */
const isOwn = `name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*' AND tbl_name <> '${LOG}'`;

const quote = (name: string) => `"${name}"`;
const list = (names: string[]) => names.map(quote).join(', ');

const lengthOf = (row: SqlStorageValue[]) =>
  row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);

export const openDisk = (sql: SqlStorage) => {
  const namesOf = (query: string, ...bindings: string[]) =>
    sql
      .exec<{ name: string }>(query, ...bindings)
      .toArray()
      .map(({ name }) => name);

  const tables = () =>
    namesOf(`SELECT name FROM sqlite_master WHERE type = 'table' AND ${isOwn} ORDER BY name`);

  const primaryKey = (table: string) =>
    namesOf('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk', table);

  const statementsOf = (types: string) =>
    sql
      .exec<{ sql: string }>(
        `SELECT sql FROM sqlite_master WHERE type IN (${types}) AND sql IS NOT NULL AND ${isOwn} ORDER BY type DESC, name`,
      )
      .toArray()
      .map((row) => row.sql);

  const triggersOf = (table: string) => {
    const keyOf = (row: 'OLD' | 'NEW') =>
      `json_array(${primaryKey(table)
        .map((column) => `${row}.${quote(column)}`)
        .join(', ')})`;
    const log = (event: string, keys: string) =>
      `CREATE TRIGGER ${quote(`moving_${event}_${table}`)} AFTER ${event} ON ${quote(table)} BEGIN
         INSERT INTO ${LOG} (name, key) ${keys}; END`;
    const select = (row: 'OLD' | 'NEW') => `SELECT '${table}', ${keyOf(row)}`;
    return [
      log('INSERT', select('NEW')),
      log('UPDATE', `${select('OLD')} UNION ${select('NEW')}`),
      log('DELETE', select('OLD')),
    ];
  };

  const unwatch = () => {
    for (const name of namesOf(
      "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'moving_*'",
    ))
      sql.exec(`DROP TRIGGER ${quote(name)}`);
    sql.exec(`DROP TABLE IF EXISTS ${LOG}`);
  };

  const drop = (names = tables()) => {
    for (const table of names) sql.exec(`DROP TABLE ${quote(table)}`);
  };

  const wherePrimaryKey = (table: string) =>
    primaryKey(table)
      .map((column) => `${quote(column)} = ?`)
      .join(' AND ');

  return {
    tables,
    unwatch,
    drop,

    /** The statements that create the tables. */
    schema: () => statementsOf("'table', 'index'"),

    /** Starts to log changed rows, as part of the current transaction. */
    watch: () => {
      unwatch();
      sql.exec(`CREATE TABLE ${LOG} (seq INTEGER PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL)`);
      for (const trigger of tables().flatMap(triggersOf)) sql.exec(trigger);
    },

    /** Differs from an earlier layout if a table was replaced, added or changed since. */
    layout: () => statementsOf("'table', 'index', 'trigger'").join(';'),

    /** Returns the rows after a primary key, in its order, and the last one's key, or null if no rows come after it. */
    page: (table: string, after: SqlStorageValue[] | null) => {
      const key = primaryKey(table);
      const isLater = after ? `WHERE (${list(key)}) > (${key.map(() => '?').join(', ')})` : '';
      const cursor = sql.exec(
        `SELECT ${list(key)}, * FROM ${quote(table)} ${isLater} ORDER BY ${list(key)} LIMIT ${PAGE_ROWS}`,
        ...(after ?? []),
      );
      const columns = cursor.columnNames.slice(key.length);
      const rows: SqlStorageValue[][] = [];
      let last: SqlStorageValue[] | null = null;
      let length = 0;
      for (const row of cursor.raw()) {
        last = row.slice(0, key.length);
        rows.push(row.slice(key.length));
        length += lengthOf(row);
        if (length > PAGE_CHARACTERS) break;
      }
      const isFull = rows.length === PAGE_ROWS || length > PAGE_CHARACTERS;
      return { part: { table, columns, rows, gone: [] } satisfies TableRows, last: isFull ? last : null };
    },

    /** Returns the next rows of the log as they are now, and through where that is in the log. */
    changes: (): { parts: TableRows[]; through: number; isAll: boolean } => {
      const logged = sql.exec<{ seq: number; name: string; key: string }>(
        `SELECT seq, name, key FROM ${LOG} ORDER BY seq LIMIT ${LOG_ROWS}`,
      );
      const parts = new Map<string, TableRows>();
      const seen = new Set<string>();
      let through = 0;
      let length = 0;
      for (const { seq, name, key } of logged.toArray()) {
        if (length > PAGE_CHARACTERS) break;
        through = seq;
        if (seen.has(name + key)) continue;
        seen.add(name + key);
        const values = JSON.parse(key) as SqlStorageValue[];
        const cursor = sql.exec(`SELECT * FROM ${quote(name)} WHERE ${wherePrimaryKey(name)}`, ...values);
        const part = parts.get(name) ?? { table: name, columns: cursor.columnNames, rows: [], gone: [] };
        const [row] = cursor.raw();
        if (row) part.rows.push(row);
        else part.gone.push(values);
        length += row ? lengthOf(row) : 0;
        parts.set(name, part);
      }
      const { last } = sql.exec<{ last: number | null }>(`SELECT max(seq) AS last FROM ${LOG}`).one();
      return { parts: [...parts.values()], through, isAll: through === (last ?? 0) };
    },

    forgetChanges: (through: number) => sql.exec(`DELETE FROM ${LOG} WHERE seq <= ?`, through),

    create: (statements: string[]) => {
      drop();
      for (const statement of statements) sql.exec(statement);
    },

    write: ({ table, columns, rows, gone }: TableRows) => {
      const places = columns.map(() => '?').join(', ');
      for (const row of rows)
        sql.exec(`INSERT OR REPLACE INTO ${quote(table)} (${list(columns)}) VALUES (${places})`, ...row);
      for (const key of gone) sql.exec(`DELETE FROM ${quote(table)} WHERE ${wherePrimaryKey(table)}`, ...key);
    },
  };
};

export type Disk = ReturnType<typeof openDisk>;
