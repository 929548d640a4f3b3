import { asc, gt } from 'drizzle-orm';
import { accountDatabases, databaseOf } from '../db/client.ts';
import { accounts } from '../db/schema.ts';
import { TABLES } from '../db/tables.ts';
import { readBackupFrom } from '../operators/backup.ts';
import { SYSTEM } from '../shared/rules/audit.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { logError, logLine } from '../shared/text/log.ts';
import { type Bucket, readSealed } from './bucket.ts';
import { type ChunkWriter, openChunkWriter } from './chunk-writer.ts';
import { readLines, type Tally, tally } from './lines.ts';
import { readPage } from './rows.ts';
import {
  type AccountsPosition,
  type BegunAccount,
  chunkName,
  chunkOwner,
  findRunning,
  running,
  type Running,
  writeSummary,
} from './state.ts';

// One step of a backup: it goes on where the last one stopped, and writes down where it stops. A step that dies is made again:
// what it has written is no part of the backup.

/** A step takes no new page after this long, and reads at most so many: D1 allows 1,000 queries in a call. */
const STEP_MS = 15_000;
const MAX_PAGES = 300;
const MAX_ACCOUNTS = 100;
/** An account whose objects fail so often, or end the step, is left out, and named. */
const MAX_TRIES = 3;

interface Budget {
  stopAtMs: number;
  pages: number;
}

const isSpent = ({ stopAtMs, pages }: Budget) => Date.now() >= stopAtMs || pages <= 0;

const copyRows = async (env: Env, state: Running, writer: ChunkWriter, budget: Budget): Promise<void> => {
  const databases = accountDatabases(env);
  while (state.position.phase === 'rows' && !isSpent(budget)) {
    const { database, table: number, after } = state.position;
    const [from, table] = [databases[database], TABLES[number]];
    if (!from) state.position = { phase: 'objects', database: 0, afterAccount: '' };
    else if (!table) state.position = { ...state.position, database: database + 1, table: 0, after: null };
    else {
      budget.pages--;
      const { rows, last } = await readPage(from, table, after);
      await writer.addRows(from.binding, table, rows);
      state.position = last
        ? { ...state.position, after: last }
        : { ...state.position, table: number + 1, after: null };
    }
  }
};

/** Reads what an account's objects own, as far as the step's time lasts. Returns whether that was all. */
const copyAccount = async (
  env: Env,
  begun: BegunAccount,
  writer: ChunkWriter,
  { stopAtMs }: Budget,
): Promise<boolean> => {
  const { id: accountId } = begun;
  const ctx = { env, db: databaseOf(env, accountId), accountId, key: null, actor: SYSTEM, ip: null };
  for await (const { id, line, next } of readBackupFrom(ctx, begun.within)) {
    await writer.add({ account: accountId, id, line });
    begun.within = next;
    if (next && Date.now() >= stopAtMs) return false;
  }
  return true;
};

const after = (accountId: string) => ({ afterAccount: accountId, begun: null });

/** Goes on with an account. Returns whether the step can go on to the next one. */
const copyNext = async (
  env: Env,
  begun: BegunAccount,
  state: Running,
  position: AccountsPosition,
  writer: ChunkWriter,
  budget: Budget,
): Promise<boolean> => {
  try {
    const isWhole = await copyAccount(env, begun, writer, budget);
    begun.tries = 0;
    if (isWhole) Object.assign(position, after(begun.id));
    return isWhole;
  } catch (error) {
    logError('backup_of_account_failed', error, { account_id: begun.id, backup_id: state.id });
    return false;
  }
};

const leaveOut = (accountId: string, state: Running, position: AccountsPosition): void => {
  const error = new Error(
    `Left out of the backup: ${MAX_TRIES} tries have failed, or have ended their step.`,
  );
  logError('backup_of_account_failed', error, { account_id: accountId, backup_id: state.id });
  state.missing.push(accountId);
  Object.assign(position, after(accountId));
};

/**
 * Copies the objects of the next accounts. What kills the step throws nothing, so a try is saved before it begins: the first of
 * the step, or all, if the step before was killed by one of these. Returns false if another step came first.
 */
const copyObjects = async (
  env: Env,
  state: Running,
  writer: ChunkWriter,
  budget: Budget,
  save: () => Promise<boolean>,
): Promise<boolean> => {
  const databases = accountDatabases(env);
  const isCareful = state.position.phase === 'objects' && (state.position.begun?.tries ?? 0) > 0;
  let isToSave = true;
  while (state.position.phase === 'objects' && !isSpent(budget)) {
    const { position } = state;
    const from = databases[position.database];
    if (!from) {
      state.position = { phase: 'verify', chunk: 0, found: {} };
      return true;
    }
    budget.pages--;
    const found = await from.db
      .select({ id: accounts.id })
      .from(accounts)
      .where(gt(accounts.id, position.afterAccount))
      .orderBy(asc(accounts.id))
      .limit(MAX_ACCOUNTS);
    for (const { id } of found) {
      if (Date.now() >= budget.stopAtMs) return true;
      const begun = position.begun?.id === id ? position.begun : { id, tries: 0, within: null };
      if (begun.tries >= MAX_TRIES) {
        leaveOut(id, state, position);
        continue;
      }
      begun.tries++;
      position.begun = begun;
      if (isToSave && !(await save())) return false;
      isToSave = isCareful;
      if (!(await copyNext(env, begun, state, position, writer, budget))) return true;
    }
    if (found.length < MAX_ACCOUNTS)
      state.position = { phase: 'objects', database: position.database + 1, afterAccount: '' };
  }
  return true;
};

/** Reads the chunks back. Returns whether all of them were read. */
const verify = async (bucket: Bucket, state: Running, budget: Budget): Promise<boolean> => {
  if (state.position.phase !== 'verify') return false;
  const { position } = state;
  for (; position.chunk < state.chunks.length; position.chunk++) {
    if (isSpent(budget)) return false;
    const name = chunkName(state.id, state.chunks[position.chunk] ?? '');
    const chunk = await readSealed(bucket, name, chunkOwner(state.id, position.chunk));
    for (const line of readLines(chunk?.text ?? '')) tally(position.found, line);
  }
  return true;
};

const isAlike = (one: Tally, other: Tally) =>
  [...Object.keys(one), ...Object.keys(other)].every((name) => one[name] === other[name]);

const finish = async (bucket: Bucket, state: Running): Promise<'done' | 'failed'> => {
  const { position, ...rest } = state;
  if (position.phase !== 'verify' || !isAlike(position.found, state.counts)) {
    logError('backup_not_verified', new Error('The backup isn’t what was written.'), { backup_id: state.id });
    return 'failed';
  }
  const finishedAtMs = Date.now();
  await writeSummary(bucket, { ...rest, finishedAtMs });
  const times = { started_at: isoTime(state.startedAtMs), finished_at: isoTime(finishedAtMs) };
  logLine('info', { event: 'backup_complete', backup_id: state.id, bytes: state.bytes, ...times });
  return 'done';
};

export type StepResult = { status: 'running' | 'done' | 'failed'; state: Running };

/** Makes one step of the backup that runs. Returns null if none runs, or another step of it came first. */
export const makeStep = async (env: Env, bucket: Bucket): Promise<StepResult | null> => {
  const record = running(bucket);
  const found = await findRunning(env, record);
  if (!found) return null;
  const { value: state } = found;
  let etag: string | null = found.etag;
  const budget = { stopAtMs: Date.now() + STEP_MS, pages: MAX_PAGES };
  const writer = openChunkWriter(bucket, state);
  const save = async (): Promise<boolean> => {
    await writer.flush();
    etag = await record.write(state, etag);
    return etag !== null;
  };
  await copyRows(env, state, writer, budget);
  if (!(await copyObjects(env, state, writer, budget, save))) return null;
  await writer.flush();
  const isVerified = await verify(bucket, state, budget);
  if (!(await save())) return null;
  if (!isVerified) return { status: 'running', state };
  const status = await finish(bucket, state);
  await record.remove();
  return { status, state };
};
