import { accountDatabases } from '../db/client.ts';
import type { BackupPlace } from '../operators/backup.ts';
import { newId } from '../shared/text/ids.ts';
import { type Bucket, openRecord, readSealed, writeSealed } from './bucket.ts';
import type { StoredValue, Tally } from './lines.ts';

// How far a backup is. It is kept in the bucket, beside what it is about, so that a backup depends on no database.

export const BACKUP_FORMAT = 1;

/** An account that is not whole yet: how far it is, and how often its reading has begun without getting any further. */
export interface BegunAccount {
  id: string;
  tries: number;
  within: BackupPlace | null;
}

/** The account that was begun may be erased before the next step, which then finds another one after `afterAccount`. */
export interface AccountsPosition {
  phase: 'objects';
  database: number;
  afterAccount: string;
  begun?: BegunAccount | null;
}

/** Where the next step goes on. Databases and tables are numbered in their order. */
export type BackupPosition =
  | { phase: 'rows'; database: number; table: number; after: StoredValue[] | null }
  | AccountsPosition
  | { phase: 'verify'; chunk: number; found: Tally };

export interface Running {
  id: string;
  format: number;
  databases: string[];
  startedAtMs: number;
  position: BackupPosition;
  /** The names of the chunks, in their order. */
  chunks: string[];
  bytes: number;
  counts: Tally;
  /** Accounts whose objects could not be read. */
  missing: string[];
}

/** What remains of a backup that is complete. */
export type CompleteBackup = Omit<Running, 'position'> & { finishedAtMs: number };

export const running = (bucket: Bucket) => openRecord<Running>(bucket, 'running');

export const begin = (env: Env): Running => ({
  id: newId('bak'),
  format: BACKUP_FORMAT,
  databases: accountDatabases(env).map(({ binding }) => binding),
  startedAtMs: Date.now(),
  position: { phase: 'rows', database: 0, table: 0, after: null },
  chunks: [],
  bytes: 0,
  counts: {},
  missing: [],
});

const SUMMARIES = 'summaries/';
const summaryOwner = (id: string) => ['backup', id, 'summary'];

export const chunkName = (id: string, name: string) => `chunks/${id}/${name}`;
export const chunkOwner = (id: string, number: number) => ['backup', id, String(number)];

export const writeSummary = (bucket: Bucket, summary: CompleteBackup) =>
  writeSealed(bucket, SUMMARIES + summary.id, summaryOwner(summary.id), JSON.stringify(summary));

export const readSummary = async (bucket: Bucket, id: string): Promise<CompleteBackup | null> => {
  const found = await readSealed(bucket, SUMMARIES + id, summaryOwner(id));
  return found && (JSON.parse(found.text) as CompleteBackup);
};

/** The ids of complete backups, newest last. They are as many as are kept, so that one call lists them. */
export const listIds = async ({ r2 }: Bucket): Promise<string[]> => {
  const { objects } = await r2.list({ prefix: SUMMARIES });
  return objects.map(({ key }) => key.slice(SUMMARIES.length));
};

/** Deletes a backup: its summary first, so that what is left of it is no backup. */
export const remove = async ({ r2 }: Bucket, id: string): Promise<void> => {
  await r2.delete(SUMMARIES + id);
  for (;;) {
    const { objects } = await r2.list({ prefix: `chunks/${id}/` });
    if (objects.length === 0) return;
    await r2.delete(objects.map(({ key }) => key));
  }
};
