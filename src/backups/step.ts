import { asc, gt } from 'drizzle-orm';
import { accountDatabases, databaseOf } from '../db/client.ts';
import { accounts } from '../db/schema.ts';
import { TABLES } from '../db/tables.ts';
import { readBackup } from '../operators/backup.ts';
import { SYSTEM } from '../shared/rules/audit.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { logError, logLine } from '../shared/text/log.ts';
import { type Bucket, readSealed } from './bucket.ts';
import { type ChunkWriter, openChunkWriter } from './chunk-writer.ts';
import { readLines, type Tally, tally } from './lines.ts';
import { readPage } from './rows.ts';
import { chunkName, chunkOwner, running, type Running, writeSummary } from './state.ts';

// One step of a backup: it goes on where the last one stopped, and writes down where it stops. A step that dies is made again:
// what it has written is no part of the backup.

/** A step takes no new page after this long, and reads at most so many: D1 allows 1,000 queries in a call. */
const STEP_MS = 15_000;
const MAX_PAGES = 300;
const MAX_ACCOUNTS = 100;
/** An account whose objects fail so often is left out, and named. */
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
    if (!from) state.position = { phase: 'objects', database: 0, afterAccount: '', tries: 0 };
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

/** Reads what an account's objects own. They are asked while calls go on, so each line is as of its own time. */
const copyAccount = async (env: Env, accountId: string, writer: ChunkWriter): Promise<void> => {
  const ctx = { env, db: databaseOf(env, accountId), accountId, key: null, actor: SYSTEM, ip: null };
  let id = '';
  for await (const [line] of readBackup(ctx)) {
    if (line.type === 'backup') ({ id } = line);
    await writer.add({ account: accountId, id, line });
  }
};

const copyObjects = async (env: Env, state: Running, writer: ChunkWriter, budget: Budget): Promise<void> => {
  const databases = accountDatabases(env);
  while (state.position.phase === 'objects' && !isSpent(budget)) {
    const { position } = state;
    const from = databases[position.database];
    if (!from) {
      state.position = { phase: 'verify', chunk: 0, found: {} };
      return;
    }
    budget.pages--;
    const found = await from.db
      .select({ id: accounts.id })
      .from(accounts)
      .where(gt(accounts.id, position.afterAccount))
      .orderBy(asc(accounts.id))
      .limit(MAX_ACCOUNTS);
    for (const { id } of found) {
      if (Date.now() >= budget.stopAtMs) return;
      try {
        await copyAccount(env, id, writer);
      } catch (error) {
        position.tries++;
        logError('backup_of_account_failed', error, { account_id: id, backup_id: state.id });
        if (position.tries < MAX_TRIES) return;
        state.missing.push(id);
      }
      position.afterAccount = id;
      position.tries = 0;
    }
    if (found.length < MAX_ACCOUNTS)
      state.position = { phase: 'objects', database: position.database + 1, afterAccount: '', tries: 0 };
  }
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
  const found = await record.read();
  if (!found) return null;
  const { value: state, etag } = found;
  const budget = { stopAtMs: Date.now() + STEP_MS, pages: MAX_PAGES };
  const writer = openChunkWriter(bucket, state);
  await copyRows(env, state, writer, budget);
  await copyObjects(env, state, writer, budget);
  await writer.flush();
  const isVerified = await verify(bucket, state, budget);
  if (!(await record.write(state, etag))) return null;
  if (!isVerified) return { status: 'running', state };
  const status = await finish(bucket, state);
  await record.remove();
  return { status, state };
};
