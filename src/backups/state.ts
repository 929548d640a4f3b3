import { accountDatabases, firstDatabase } from '../db/client.ts';
import { databaseIdentity } from '../db/schema.ts';
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
  /** The service that began it, by the name that its databases remember. The release before wrote none. */
  serviceId?: string | null;
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

/** A complete backup whose summary nobody can read. */
export interface UnreadableBackup {
  id: string;
  isUnreadable: true;
}

export const running = (bucket: Bucket) => openRecord<Running>(bucket, 'running');

/** Whose databases these are. The bucket outlives them, and so do the records in it. */
export const readServiceId = async (env: Env): Promise<string | null> => {
  const [row] = await firstDatabase(env).select({ id: databaseIdentity.serviceId }).from(databaseIdentity);
  return row?.id ?? null;
};

/** Whether this service has begun a backup. In other databases, its position would mean other rows. */
export const isOwn = async (env: Env, { serviceId }: Running): Promise<boolean> =>
  serviceId === (await readServiceId(env));

/** Returns the backup of this service that runs. */
export const findRunning = async (env: Env, record: ReturnType<typeof running>) => {
  const found = await record.read();
  return found?.value && (await isOwn(env, found.value)) ? { value: found.value, etag: found.etag } : null;
};

export const begin = async (env: Env): Promise<Running> => ({
  id: newId('bak'),
  serviceId: await readServiceId(env),
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

export const readSummary = async (
  bucket: Bucket,
  id: string,
): Promise<CompleteBackup | UnreadableBackup | null> => {
  const found = await readSealed(bucket, SUMMARIES + id, summaryOwner(id));
  if (!found) return null;
  return found.text === null ? { id, isUnreadable: true } : (JSON.parse(found.text) as CompleteBackup);
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
