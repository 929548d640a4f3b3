import { DAY_MS } from '../rules/dates.ts';
import type { ObjectContext } from './context.ts';
import { openDisk, type TableRows } from './disk.ts';
import { ownValue } from './own-values.ts';

// The rows that a restore has brought so far, in tables of their own. Only the restore that has begun last may add to them and commit
// them: with two at once, rows would be lost unnoticed.

const STAGED = 'restored_';
const VALUES = `${STAGED}values`;
const STAGE = ownValue('stage');
/** What a restore that was cut off has left is deleted then. */
const KEPT_MS = DAY_MS;

/** A part of a backup: rows of a table, or the values beside the tables. */
export type BackupPart =
  | ({ type: 'rows' } & Pick<TableRows, 'table' | 'columns' | 'rows'>)
  | { type: 'values'; values: [name: string, value: unknown][] };

interface Stage {
  /** The name that the restore has given it. The release before gives none. */
  name: string | null;
  /** The version of the tables in the backup. */
  version: number;
  atMs: number;
}

const isStaged = (table: string) => table.startsWith(STAGED);
const quote = (name: string) => `"${name}"`;

/** Drops the staged rows, as part of the current transaction. A restore that is under way then fails. */
export const dropStage = ({ sql, kv }: DurableObjectStorage): void => {
  const disk = openDisk(sql);
  disk.drop(disk.tables().filter(isStaged));
  kv.delete(STAGE);
};

export const openStage = ({ ctx, journal, alarm }: Pick<ObjectContext, 'ctx' | 'journal' | 'alarm'>) => {
  const { storage } = ctx;
  const { sql, kv } = storage;
  const disk = openDisk(sql);
  const read = () => kv.get<Stage>(STAGE) ?? null;
  const endOf = (stage: Stage | null) => (stage ? stage.atMs + KEPT_MS : null);
  let dropAtMs = endOf(read());

  alarm.add({
    failure: 'stage_not_dropped',
    dueMs: () => dropAtMs,
    run: (nowMs) => {
      if (dropAtMs === null || nowMs < dropAtMs) return;
      journal.write(() => dropStage(storage));
      dropAtMs = null;
    },
  });

  const columnsOf = (table: string) =>
    sql
      .exec(`SELECT * FROM ${quote(table)} LIMIT 0`)
      .columnNames.map(quote)
      .join(', ');

  return {
    isStaged,

    begin: async (name: string | undefined, version: number): Promise<void> => {
      const stage: Stage = { name: name ?? null, version, atMs: Date.now() };
      journal.write(() => {
        dropStage(storage);
        sql.exec(`CREATE TABLE ${VALUES} (name TEXT NOT NULL, value TEXT NOT NULL)`);
        kv.put(STAGE, stage);
      });
      dropAtMs = endOf(stage);
      await alarm.arm();
    },

    /** Returns what a restore has begun, unless it was dropped, or another restore has begun since. */
    find: (name: string | undefined): Stage | null => {
      const stage = read();
      return stage?.name === (name ?? null) ? stage : null;
    },

    add: (part: BackupPart): void =>
      journal.write(() => {
        if (part.type === 'rows') {
          const table = STAGED + part.table;
          sql.exec(`CREATE TABLE IF NOT EXISTS ${quote(table)} (${part.columns.map(quote).join(', ')})`);
          return disk.write({ ...part, table, gone: [] });
        }
        for (const [name, value] of part.values)
          sql.exec(`INSERT INTO ${VALUES} VALUES (?, ?)`, name, JSON.stringify(value));
      }),

    /** Copies the rows of a table that were staged into it, as part of the current transaction. */
    moveRows: (tables: string[]): void => {
      const staged = new Set(disk.tables().filter(isStaged));
      for (const name of tables) {
        if (!staged.has(STAGED + name)) continue;
        const columns = columnsOf(STAGED + name);
        sql.exec(
          `INSERT OR REPLACE INTO ${quote(name)} (${columns}) SELECT ${columns} FROM ${quote(STAGED + name)}`,
        );
      }
    },

    values: (): [name: string, value: unknown][] =>
      sql
        .exec<{ name: string; value: string }>(`SELECT name, value FROM ${VALUES}`)
        .toArray()
        .map(({ name, value }) => [name, JSON.parse(value)]),
  };
};
