import type { ObjectContext } from './context.ts';
import { openDisk, type TableRows } from './disk.ts';
import { createTables, migrateTables, type ObjectTables, versionOf } from './migrations.ts';
import { isOwnValue, ownValue } from './own-values.ts';

// Copies what a Durable Object owns out of it and in again. Rows that come in are staged in tables of their own, so that a
// restore that is cut off changes nothing.

/** A part of a backup: rows of a table, or the values beside the tables. */
export type BackupPart =
  | ({ type: 'rows' } & Pick<TableRows, 'table' | 'columns' | 'rows'>)
  | { type: 'values'; values: [name: string, value: unknown][] };

/** Where the next page of a backup begins. */
export interface BackupCursor {
  table: string;
  after: SqlStorageValue[] | null;
}

export interface BackupPage {
  /** The version of the object's tables, see `versionOf`. */
  steps: number;
  part: BackupPart;
  /** Null after the last page. */
  next: BackupCursor | null;
}

interface Begin {
  kind: 'begin';
  id: string;
  steps: number;
  replaces: boolean;
}

export type BackupCall =
  | { kind: 'read'; cursor: BackupCursor | null }
  | Begin
  | { kind: 'part'; part: BackupPart }
  | { kind: 'commit'; id: string }
  /** Asks for the id of the last backup that was restored here. */
  | { kind: 'restored' };

export interface BackupReply {
  page?: BackupPage;
  refused?: 'not_empty' | 'other_release' | 'moving';
  restoredId?: string | null;
}

interface Owned {
  /** The object's tables. A backup of an earlier version goes through the steps since then. */
  tables: ObjectTables;
  /** Tables that are no part of the backup, because the object can read their rows again. */
  copies?: readonly string[];
  /** Runs after the rows were replaced, in the same transaction. */
  onRestored?: () => void;
}

const STAGED = 'restored_';
/** Whether a table has rows of a restore that was not committed. */
export const isStaged = (table: string) => table.startsWith(STAGED);
const RESTORED_ID = ownValue('restored_id');
const VERSION = 'storage_version';
/** How long after the restart the alarm goes on with the object's work. */
const ALARM_MS = 1_000;

const quote = (name: string) => `"${name}"`;

export const openBackup = (
  { ctx, journal, alarm }: ObjectContext,
  { tables: owned, copies = [], onRestored }: Owned,
) => {
  const { storage } = ctx;
  const { sql, kv } = storage;
  const disk = openDisk(sql);
  const steps = versionOf(owned);
  const isOther = new Set([VERSION, ...copies]);

  const tables = () => disk.tables().filter((name) => !isOther.has(name) && !isStaged(name));
  const values = () => [...kv.list()].filter(([name]) => !isOwnValue(name));
  const dropStaged = () => disk.drop(disk.tables().filter(isStaged));
  const isEmpty = () =>
    tables().every((name) => sql.exec(`SELECT 1 FROM ${quote(name)} LIMIT 1`).toArray().length === 0);

  const columnsOf = (table: string) =>
    sql
      .exec(`SELECT * FROM ${quote(table)} LIMIT 0`)
      .columnNames.map(quote)
      .join(', ');

  const begin = ({ id, steps: stepsThen, replaces }: Begin): BackupReply => {
    if (stepsThen > steps || stepsThen < owned.baseVersion) return { refused: 'other_release' };
    // A repeat of a restore finds its own rows.
    if (!replaces && !isEmpty() && kv.get(RESTORED_ID) !== id) return { refused: 'not_empty' };
    journal.write(() => {
      dropStaged();
      sql.exec(`CREATE TABLE ${STAGED}values (name TEXT NOT NULL, value TEXT NOT NULL)`);
      sql.exec(`CREATE TABLE ${STAGED}version AS SELECT ? AS version`, stepsThen);
    });
    return {};
  };

  const stage = (part: BackupPart): BackupReply => {
    journal.write(() => {
      if (part.type === 'rows') {
        const table = STAGED + part.table;
        sql.exec(`CREATE TABLE IF NOT EXISTS ${quote(table)} (${part.columns.map(quote).join(', ')})`);
        return disk.write({ ...part, table, gone: [] });
      }
      for (const [name, value] of part.values)
        sql.exec(`INSERT INTO ${STAGED}values VALUES (?, ?)`, name, JSON.stringify(value));
    });
    return {};
  };

  const replaceRows = (id: string) =>
    journal.write(() => {
      const { version } = sql.exec<{ version: number }>(`SELECT version FROM ${STAGED}version`).one();
      const staged = new Set(disk.tables().filter(isStaged));
      disk.drop(tables());
      createTables(sql, owned, version);
      for (const name of tables()) {
        if (!staged.has(STAGED + name)) continue;
        const columns = columnsOf(STAGED + name);
        sql.exec(
          `INSERT OR REPLACE INTO ${quote(name)} (${columns}) SELECT ${columns} FROM ${quote(STAGED + name)}`,
        );
      }
      migrateTables(sql, owned);
      for (const [name] of values()) kv.delete(name);
      for (const { name, value } of sql.exec<{ name: string; value: string }>(
        `SELECT name, value FROM ${STAGED}values`,
      ))
        // Backups of earlier releases have values that are the object's own.
        if (!isOwnValue(name)) kv.put(name, JSON.parse(value));
      kv.put(RESTORED_ID, id);
      dropStaged();
      onRestored?.();
    });

  /** Returns the next rows of what the object owns. The values beside the tables come last. */
  const read = (cursor: BackupCursor | null): BackupPage => {
    // Writes what the object still has in memory.
    if (!cursor) journal.change(() => {});
    const names = tables();
    const table = cursor ? cursor.table : (names[0] ?? '');
    const position = names.indexOf(table);
    if (position === -1) return { steps, part: { type: 'values', values: values() }, next: null };
    const { part, last } = disk.page(table, cursor?.after ?? null);
    const { columns, rows } = part;
    const next = last ? { table, after: last } : { table: names[position + 1] ?? '', after: null };
    return { steps, part: { type: 'rows', table, columns, rows }, next };
  };

  /** Takes what was staged. The object restarts, and the call fails. */
  const commit = (id: string): Promise<never> =>
    ctx.blockConcurrencyWhile(async () => {
      replaceRows(id);
      await alarm.arm(Date.now() + ALARM_MS);
      await storage.sync();
      // What is in memory must not be written over the restored rows.
      ctx.abort('The object restarts with the restored rows.');
      throw new Error('The object restarts.');
    });

  return async (call: BackupCall): Promise<BackupReply> => {
    switch (call.kind) {
      case 'read':
        return { page: read(call.cursor) };
      case 'begin':
        return begin(call);
      case 'part':
        return stage(call.part);
      case 'commit':
        return commit(call.id);
      case 'restored':
      default:
        return { restoredId: kv.get<string>(RESTORED_ID) ?? null };
    }
  };
};

export type Backup = ReturnType<typeof openBackup>;
