import type { ObjectContext } from './context.ts';
import { openDisk } from './disk.ts';
import { createTables, migrateTables, type ObjectTables, versionOf } from './migrations.ts';
import { isOwnValue, ownValue } from './own-values.ts';
import { type BackupPart, dropStage, openStage } from './stage.ts';

// Copies what a Durable Object owns out of it and in again. Rows that come in are staged, so that a restore that is cut off
// changes nothing.

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

interface Staged {
  /** The name of what the restore has staged. The release before sends none. */
  stage?: string;
}

interface Begin extends Staged {
  kind: 'begin';
  id: string;
  steps: number;
  replaces: boolean;
}

interface Commit extends Staged {
  kind: 'commit';
  id: string;
}

export type BackupCall =
  | { kind: 'read'; cursor: BackupCursor | null }
  | Begin
  | ({ kind: 'part'; part: BackupPart } & Staged)
  | Commit
  /** Asks for the last backup that was restored here. */
  | { kind: 'restored' };

export interface BackupReply {
  page?: BackupPage;
  refused?: 'not_empty' | 'other_release' | 'moving' | 'stage_gone';
  restoredId?: string | null;
  restoredStage?: string | null;
}

interface Owned {
  /** The object's tables. A backup of an earlier version goes through the steps since then. */
  tables: ObjectTables;
  /** Tables that are no part of the backup, because the object can read their rows again. */
  copies?: readonly string[];
  /** Runs after the rows were replaced, in the same transaction. */
  onRestored?: () => void;
}

const RESTORED_ID = ownValue('restored_id');
const RESTORED_STAGE = ownValue('restored_stage');
const VERSION = 'storage_version';
/** How long after the restart the alarm goes on with the object's work. */
const ALARM_MS = 1_000;

const quote = (name: string) => `"${name}"`;

export const openBackup = (object: ObjectContext, { tables: owned, copies = [], onRestored }: Owned) => {
  const { ctx, journal, alarm } = object;
  const { storage } = ctx;
  const { sql, kv } = storage;
  const disk = openDisk(sql);
  const staged = openStage(object);
  const steps = versionOf(owned);
  const isOther = new Set([VERSION, ...copies]);

  const tables = () => disk.tables().filter((name) => !isOther.has(name) && !staged.isStaged(name));
  const values = () => [...kv.list()].filter(([name]) => !isOwnValue(name));
  const isEmpty = () =>
    tables().every((name) => sql.exec(`SELECT 1 FROM ${quote(name)} LIMIT 1`).toArray().length === 0);

  const begin = async ({ id, steps: stepsThen, replaces, stage }: Begin): Promise<BackupReply> => {
    if (stepsThen > steps || stepsThen < owned.baseVersion) return { refused: 'other_release' };
    // A repeat of a restore finds its own rows.
    if (!replaces && !isEmpty() && kv.get(RESTORED_ID) !== id) return { refused: 'not_empty' };
    await staged.begin(stage, stepsThen);
    return {};
  };

  const replaceRows = ({ id, stage = '' }: Commit, version: number) =>
    journal.write(() => {
      disk.drop(tables());
      createTables(sql, owned, version);
      staged.moveRows(tables());
      migrateTables(sql, owned);
      for (const [name] of values()) kv.delete(name);
      // Backups of earlier releases have values that are the object's own.
      for (const [name, value] of staged.values()) if (!isOwnValue(name)) kv.put(name, value);
      kv.put(RESTORED_ID, id);
      kv.put(RESTORED_STAGE, stage);
      dropStage(storage);
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
  const commit = (call: Commit, version: number): Promise<never> =>
    ctx.blockConcurrencyWhile(async () => {
      replaceRows(call, version);
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
        if (!staged.find(call.stage)) return { refused: 'stage_gone' };
        staged.add(call.part);
        return {};
      case 'commit': {
        const stage = staged.find(call.stage);
        return stage ? commit(call, stage.version) : { refused: 'stage_gone' };
      }
      case 'restored':
      default:
        return {
          restoredId: kv.get<string>(RESTORED_ID) ?? null,
          restoredStage: kv.get<string>(RESTORED_STAGE) ?? null,
        };
    }
  };
};

export type Backup = ReturnType<typeof openBackup>;
