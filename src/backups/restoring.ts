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
  /** That of the account's part of the backup. */
  id: string;
  /** What its objects call what they have got so far. */
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
 * Whether work on what is due has to wait: on tables of which some have come in and others not, it would decide wrongly, for good. A
 * bucket that can't be reached keeps no service from its work.
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
