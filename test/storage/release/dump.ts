// Writes what D1 and the Durable Objects store as SQL.
import { runInDurableObject } from 'cloudflare:test';
import { gate } from '../../support/gate.ts';
import { outbox } from '../../support/outbox.ts';
import type { StoredObject } from './fixture.ts';

const quote = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
const insert = (table: string, row: Record<string, unknown>) => {
  const columns = Object.keys(row).map((name) => `"${name}"`);
  return `INSERT INTO "${table}" (${columns.join(', ')}) VALUES (${Object.values(row).map(quote).join(', ')})`;
};
/** Lists a table's columns, but not those that are generated. */
const COLUMNS = `SELECT group_concat('"' || name || '"') AS columns FROM pragma_table_info`;

/** Tables that others refer to, or whose triggers write to others. Those are emptied before their rows are inserted. */
const FIRST = ['accounts', 'search_accounts', 'licenses', 'users', 'sessions'];
const NOT_DUMPED = /^(_cf_|d1_|sqlite_stat|license_search|license_trigrams)/;

export const dumpDatabase = async (d1: D1Database) => {
  const { results } = await d1
    .prepare(
      `SELECT name FROM sqlite_master WHERE type = 'table' UNION SELECT 'sqlite_sequence' ORDER BY name`,
    )
    .all<{ name: string }>();
  const others = results
    .map(({ name }) => name)
    .filter((name) => !FIRST.includes(name) && !NOT_DUMPED.test(name));
  const statements: string[] = [];
  for (const table of [...FIRST, ...others]) {
    const columns = await d1.prepare(`${COLUMNS}('${table}')`).first<string>('columns');
    const rows = await d1.prepare(`SELECT ${columns} FROM "${table}"`).all();
    if (!FIRST.includes(table)) statements.push(`DELETE FROM "${table}"`);
    statements.push(...rows.results.map((row) => insert(table, row)));
  }
  return statements;
};

export const dumpObject = (binding: StoredObject['binding'], accountId: string): Promise<StoredObject> => {
  const stub: DurableObjectStub = binding === 'GATE' ? gate(accountId) : outbox(accountId);
  return runInDurableObject(stub, async (_instance, { storage }) => {
    const tables = storage.sql
      .exec<{ name: string; type: string; sql: string }>(
        `SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB '_cf_*' ORDER BY type DESC, name`,
      )
      .toArray();
    const statements = tables.map(({ sql }) => sql.replaceAll(/\s+/g, ' '));
    for (const { name } of tables.filter(({ type }) => type === 'table'))
      for (const row of storage.sql.exec(`SELECT * FROM "${name}"`)) statements.push(insert(name, row));
    return {
      binding,
      accountId,
      statements,
      values: [...storage.kv.list()],
      alarmMs: await storage.getAlarm(),
    };
  });
};
