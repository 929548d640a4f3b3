import { isAnyMoving } from '../databases/fences.ts';
import { accountDatabases } from '../db/client.ts';
import type { DatabaseCtx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { DAY_MS, HOUR_MS } from '../shared/rules/dates.ts';
import { idTimeMs } from '../shared/text/ids.ts';
import { logError } from '../shared/text/log.ts';
import { type Bucket, findBucket, UNREADABLE } from './bucket.ts';
import { hasAccounts } from './restore.ts';
import { isAnyRestoring, isRestoring } from './restoring.ts';
import { begin, findRunning, isOwn, listIds, remove, running, type Running } from './state.ts';
import { makeStep } from './step.ts';

// The backup that makes itself. A message of the queue makes a step and sends the next message, so that each step has a call of
// its own. The hourly work sends a message again, because a queue may lose one.

const KEPT_MS = 30 * DAY_MS;
/** A little less than a day, so that the hourly work doesn't skip an hour more each night. */
const EVERY_MS = DAY_MS - HOUR_MS / 2;
/** A backup that is not complete by then has a step that always fails. */
const GIVEN_UP_AFTER_MS = 2 * DAY_MS;

/** A queue message: the backup that runs has a step to make. */
export interface BackupHint {
  backup_id: string;
}

const whyNot = async (env: Env, bucket: Bucket): Promise<string | null> => {
  if (await isAnyMoving(env))
    return 'An account is moving to another database. Begin the backup again in a few minutes.';
  return (await isRestoring(env, bucket))
    ? 'The service is being restored. Begin the backup afterwards.'
    : null;
};

/** Starts a backup, unless one runs already. Returns the one that runs. */
export const startBackup = async (env: Env, bucket: Bucket): Promise<Running> => {
  const record = running(bucket);
  const left = await record.read();
  if (left?.value && (await isOwn(env, left.value))) return left.value;
  const begun = await begin(env);
  // What another service has left, or nobody can read, is overwritten.
  if (!(await record.write(begun, left?.etag ?? null)))
    return (await findRunning(env, record))?.value ?? begun;
  // Written before: a move or a restore that begins finds it.
  const message = await whyNot(env, bucket);
  if (message === null) return begun;
  await record.remove();
  throw new AppError('invalid_transition', { message });
};

const sendHint = async (env: Env, backupId: string): Promise<void> => {
  await env.WEBHOOKS.send({ backup_id: backupId } satisfies BackupHint);
};

/** Makes a step of the backup that runs, and asks for the next one. */
export const continueBackup = async (env: Env): Promise<void> => {
  const bucket = findBucket(env);
  const result = bucket && (await makeStep(env, bucket));
  if (result?.status === 'running') await sendHint(env, result.state.id);
};

/** Why the backup that runs can't be completed. */
const whyGivenUp = async (env: Env, found: Running | null): Promise<string | null> => {
  if (!found) return UNREADABLE;
  if (!(await isOwn(env, found))) return 'The backup was begun by another service, or by an earlier release.';
  return found.startedAtMs > Date.now() - GIVEN_UP_AFTER_MS
    ? null
    : 'The backup was not complete after two days.';
};

/** Deletes backups that are older than a month, and what is left of those that were never completed. */
const prune = async (bucket: Bucket): Promise<void> => {
  const { delimitedPrefixes } = await bucket.r2.list({ prefix: 'chunks/', delimiter: '/' });
  const ids = delimitedPrefixes.map((prefix) => prefix.split('/')[1] ?? '');
  for (const id of ids) if (idTimeMs(id) < Date.now() - KEPT_MS) await remove(bucket, id);
};

/** Hourly work: starts the nightly backup, goes on with one that stands still, and deletes old ones. */
export const backUpNightly = async ({ env, db }: DatabaseCtx): Promise<void> => {
  const bucket = findBucket(env);
  // The work is done for each database, and a backup has all of them.
  if (!bucket || db !== accountDatabases(env)[0].db) return;
  const record = running(bucket);
  const found = await record.read();
  const why = found && (await whyGivenUp(env, found.value));
  if (why !== null) {
    // This makes room for another one. Its chunks are deleted with those of its age.
    logError('backup_not_verified', new Error(why), { backup_id: found?.value?.id });
    await record.remove();
  } else if (found?.value) return sendHint(env, found.value.id);
  const lastId = (await listIds(bucket)).at(-1);
  if (lastId && idTimeMs(lastId) > Date.now() - EVERY_MS) return;
  // One that takes the place of a lost service has nothing to add to its backups before it is restored.
  if (!(await hasAccounts(env))) return;
  if ((await isAnyRestoring(bucket)) || (await isAnyMoving(env))) return;
  const { id } = await startBackup(env, bucket);
  await sendHint(env, id).catch((error: unknown) => logError('hint_not_sent', error, { backup_id: id }));
  await prune(bucket);
};
