import { DAY_MS } from '../shared/rules/dates.ts';
import { logError } from '../shared/text/log.ts';
import { type Bucket, findBucket, openRecord } from './bucket.ts';
import { readServiceId } from './state.ts';

// How far a restore of the service is. It is kept in the bucket, which outlives the databases.

export interface Counts {
  rows: number;
  /** Rows that were there, or whose account the backup doesn't have. */
  skipped: number;
  accounts: number;
}

/** Where a restore goes on. */
interface Place extends Counts {
  chunk: number;
  /** The first lines of the chunk have come in. */
  line: number;
}

export const FIRST: Place = { chunk: 0, line: 0, rows: 0, skipped: 0, accounts: 0 };

export const placeOf = ({ chunk, line, rows, skipped, accounts }: Place): Place => ({
  chunk,
  line,
  rows,
  skipped,
  accounts,
});

/** An account that has begun in one chunk and ends in a later one. */
interface BegunAccount {
  /** The id of the account's part of the backup. */
  id: string;
  /** The name under which its objects stage what they receive. */
  stage: string;
  /** Where it has begun. */
  at: Place;
}

export interface Restoring extends Place {
  id: string;
  /** The service that is restored. The release before wrote none. */
  serviceId?: string | null;
  startedAtMs: number;
  /** Null between two accounts. The release before wrote none. */
  begun?: BegunAccount | null;
  /** How many of the accounts whose objects the backup lacks have reloaded their gates. The release before wrote none. */
  reloaded?: number;
}

export const restoring = (bucket: Bucket) => openRecord<Restoring>(bucket, 'restoring');

export const isOf = ({ serviceId }: Restoring, own: string | null) => (serviceId ?? own) === own;

/** Returns the restore of this service that is under way. */
export const findRestoring = async (env: Env, bucket: Bucket) => {
  const found = await restoring(bucket).read();
  if (!found?.value || !isOf(found.value, await readServiceId(env))) return null;
  return { value: found.value, writtenAtMs: found.writtenAtMs };
};

/** If nobody goes on with a restore, it is given up after a day. */
const isRecent = (atMs: number) => atMs > Date.now() - DAY_MS;

/** Whether the service is being restored, in which case it makes no backup. */
export const isRestoring = async (env: Env, bucket: Bucket): Promise<boolean> => {
  const found = await findRestoring(env, bucket);
  return found !== null && isRecent(found.writtenAtMs);
};

/** Whether any service is being restored from the bucket. Meanwhile, none that was left half restored may add to the backups. */
export const isAnyRestoring = async ({ r2 }: Bucket): Promise<boolean> => {
  const found = await r2.head('restoring');
  return found !== null && isRecent(found.uploaded.getTime());
};

/**
 * Whether due work has to wait, because it would decide wrongly while only some tables are restored. If the bucket can't be reached,
 * the work goes on.
 */
export const isBeingRestored = async (env: Env): Promise<boolean> => {
  const bucket = findBucket(env);
  try {
    return bucket !== null && (await isAnyRestoring(bucket)) && (await isRestoring(env, bucket));
  } catch (error) {
    logError('restore_not_looked_up', error);
    return false;
  }
};
