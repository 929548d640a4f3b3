// Makes tables of another release fit the code of this one, so that a gate can answer from its copy while it loads a new one.
// It takes no list of steps, because the copy's releases come and go in any order: a rollback also finds tables of another one.

interface Column extends Record<string, SqlStorageValue> {
  name: string;
  type: string;
  notnull: number;
  dflt_value: string | null;
  pk: number;
}

/** Whether no row can be written without the column. */
const isNeeded = ({ notnull, dflt_value: value }: Column) => notnull === 1 && value === null;

const definition = ({ name, type, notnull, dflt_value: value }: Column) =>
  [name, type, notnull ? 'NOT NULL' : '', value === null ? '' : `DEFAULT ${value}`].join(' ');

const columnsOf = (sql: SqlStorage, table: string) =>
  sql.exec<Column>('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)', table).toArray();

/** Returns the statements that make `table` fit, or null if its rows can't be kept. They rewrite no rows. */
const refit = (sql: SqlStorage, table: string, next: string): string[] | null => {
  const [before, after] = [columnsOf(sql, table), columnsOf(sql, next)];
  const missingFrom = (columns: Column[]) => (column: Column) =>
    columns.every(({ name }) => name !== column.name);
  const added = after.filter(missingFrom(before));
  const gone = before.filter(missingFrom(after));
  const isSame = (column: Column) => {
    const { type, notnull, pk } = before.find(({ name }) => name === column.name) ?? column;
    return type === column.type && notnull === column.notnull && pk === column.pk;
  };
  if (!after.every(isSame) || [...added, ...gone].some((column) => isNeeded(column) || column.pk > 0))
    return null;
  return added.map((column) => `ALTER TABLE ${table} ADD COLUMN ${definition(column)}`);
};

/**
 * Adds the columns that the tables lack. Those that this release doesn't know stay. The columns are those of the tables whose
 * names end with `suffix`. Returns false, and changes nothing, if rows can't be kept.
 */
export const refitTables = (sql: SqlStorage, tables: string[], suffix: string): boolean => {
  const statements = tables.map((table) => refit(sql, table, table + suffix));
  if (statements.includes(null)) return false;
  for (const statement of statements.flat()) if (statement !== null) sql.exec(statement);
  return true;
};
