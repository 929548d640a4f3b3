import { and, desc, eq, gte, sql } from 'drizzle-orm';
import { type AuditCtx, auditFirst } from '../audit/audit.ts';
import { accountDatabases, databaseOf, firstDatabase } from '../db/client.ts';
import { auditLog } from '../db/schema.ts';
import { callObject, type ObjectName, OBJECTS, StageGone } from '../operators/backup.ts';
import { type AccountRestore, restoreLine } from '../operators/restore.ts';
import { writeAllMissing } from '../purchases/awaited-offers.ts';
import { AppError } from '../shared/app-error.ts';
import { OPERATOR } from '../shared/rules/audit.ts';
import { DAY_MS } from '../shared/rules/dates.ts';
import { firstIdAt } from '../shared/text/ids.ts';
import { type Bucket, readSealed, UNREADABLE } from './bucket.ts';
import { type AccountLine, type BackupLine, readLines } from './lines.ts';
import { reloadGate, reloadNext } from './reload.ts';
import { type Counts, FIRST, isOf, placeOf, type Restoring, restoring } from './restoring.ts';
import { findAccounts, insertRows } from './rows.ts';
import {
  BACKUP_FORMAT,
  chunkName,
  chunkOwner,
  type CompleteBackup,
  readServiceId,
  readSummary,
  running,
} from './state.ts';

// Rebuilds a service from a backup, some chunks a call. A call that dies is made again: rows that are there stay as they are.

const STEP_MS = 15_000;
/** Each line of rows is a query, of which D1 allows 1,000 in a call. A chunk has at most 300 lines. */
const MAX_LINES = 500;

export interface Restored extends Counts {
  id: string;
  chunks: number;
  restoredChunks: number;
}

const refuse = (message: string) => new AppError('invalid_transition', { message });

/** Refuses a backup of another release, and one of databases that the service doesn't have. */
const checkBackup = (env: Env, { format, databases }: CompleteBackup): void => {
  if (format !== BACKUP_FORMAT)
    throw refuse('The backup is from another release. Restore it with that release.');
  const found = accountDatabases(env);
  const missing = databases.filter((name) => !found.some(({ binding }) => binding === name));
  if (missing.length > 0) throw refuse(`DATABASES lacks ${missing.join(' and ')}, which the backup has.`);
};

export const hasAccounts = async (env: Env): Promise<boolean> => {
  for (const { db } of accountDatabases(env)) {
    const rows = await db.values(sql`SELECT 1 FROM accounts LIMIT 1`);
    if (rows.length > 0) return true;
  }
  return false;
};

/**
 * The counts of the restore that ended, if it was of this backup. Its answer may be lost, so it can be asked for again. The
 * databases tell and not the bucket, which outlives the service that was restored.
 */
const findEnded = async ({ env, accountId }: AuditCtx, id: string): Promise<Counts | null> => {
  const since = firstIdAt('aud', Date.now() - DAY_MS);
  const [last] = await firstDatabase(env)
    .select({ target: auditLog.target, details: auditLog.details })
    .from(auditLog)
    .where(
      and(eq(auditLog.accountId, accountId), gte(auditLog.id, since), eq(auditLog.action, 'service.restore')),
    )
    .orderBy(desc(auditLog.id))
    .limit(1);
  if (last?.target !== id) return null;
  const { rows, skipped, accounts } = last.details ?? {};
  return { rows: Number(rows), skipped: Number(skipped ?? 0), accounts: Number(accounts ?? 0) };
};

type Ctx = Parameters<typeof restoreLine>[0];

const ctxOf = (env: Env, accountId: string): Ctx => ({
  env,
  db: databaseOf(env, accountId),
  accountId,
  key: null,
  actor: OPERATOR,
  ip: null,
});

/** Which of an account's objects have the backup already, because a step was repeated. */
const findDone = async (ctx: Ctx, id: string): Promise<Set<ObjectName>> => {
  const done = new Set<ObjectName>();
  for (const name of OBJECTS) {
    const { restoredId } = await callObject(ctx, name, { kind: 'restored' });
    if (restoredId === id) done.add(name);
  }
  return done;
};

type Opened = AccountRestore & { ctx: Ctx };

/**
 * Opens accounts of a chunk. Returns null for one that the service doesn't have, because it was registered while the backup was
 * made, or was erased: nobody would find what its objects have, to erase it.
 */
const openAccounts = (env: Env, lines: BackupLine[], { begun }: Restoring) => {
  let found: Set<string> | null = null;
  const opened = new Map<string, Opened>();
  const ids = () => [...new Set(lines.flatMap((line) => ('table' in line ? [] : line.account)))];

  return async ({ account, id, line }: AccountLine): Promise<Opened | null> => {
    // Not before the first line of an account, which comes after all rows.
    found ??= await findAccounts(env, ids());
    if (!found.has(account)) return null;
    const known = opened.get(id);
    if (known) return known;
    const ctx = ctxOf(env, account);
    const done = await findDone(ctx, id);
    const names = OBJECTS.filter((name) => !done.has(name));
    const stage = line.type !== 'backup' && begun?.id === id ? begun.stage : crypto.randomUUID();
    const restore = { ctx, id, stage, replaces: true, names };
    opened.set(id, restore);
    return restore;
  };
};

const restoreChunk = async (env: Env, state: Restoring, lines: BackupLine[]): Promise<void> => {
  const databases = accountDatabases(env);
  const openAccount = openAccounts(env, lines, state);
  for (const [i, next] of [...lines.entries()].slice(state.line)) {
    if ('table' in next) {
      const into = databases.find(({ binding }) => binding === next.database);
      const inserted = into ? await insertRows(into, next) : 0;
      state.rows += inserted;
      state.skipped += next.rows.length - inserted;
      continue;
    }
    const { id, line } = next;
    const account = await openAccount(next);
    if (account) await restoreLine(account.ctx, account, line);
    else if (line.type === 'rows') state.skipped += line.rows.length;
    if (line.type === 'backup')
      state.begun = account && { id, stage: account.stage, at: { ...placeOf(state), line: i } };
    if (line.type !== 'end') continue;
    if (account) {
      await reloadGate(env, next.account);
      state.accounts++;
    }
    state.begun = null;
  }
  state.chunk++;
  state.line = 0;
};

/**
 * Where the restore goes on. The bucket outlives the databases, so its record may be of a service that was lost while it was
 * restored: a service without accounts begins at the first chunk, whatever the record says.
 */
const resume = async (env: Env, bucket: Bucket, id: string): Promise<{ state: Restoring; etag: string }> => {
  const record = restoring(bucket);
  const [found, serviceId] = await Promise.all([record.read(), readServiceId(env)]);
  if (await hasAccounts(env)) {
    if (!found?.value || !isOf(found.value, serviceId))
      throw refuse('The service has accounts. Restore into a new service.');
    if (found.value.id !== id) throw refuse(`Another backup is being restored: ${found.value.id}.`);
    return { state: { ...FIRST, ...found.value }, etag: found.etag };
  }
  const state = { ...FIRST, id, serviceId, startedAtMs: Date.now(), begun: null };
  // Written before the first row, which would otherwise make the service one that has accounts.
  const etag = await record.write(state, found?.etag ?? null);
  if (etag === null) throw refuse('Another call restores the backup.');
  return { state, etag };
};

const readChunk = async (
  bucket: Bucket,
  { id, chunk }: Restoring,
  chunks: string[],
): Promise<BackupLine[]> => {
  const name = chunkName(id, chunks[chunk] ?? '');
  const found = await readSealed(bucket, name, chunkOwner(id, chunk));
  if (!found) throw refuse(`The chunk ${name} of the backup is missing.`);
  if (found.text === null) throw refuse(`${UNREADABLE} This is its chunk ${name}.`);
  return readLines(found.text);
};

/**
 * Restores the next chunks. If what an earlier call has staged of an account is gone, it goes back to where the account begins: a
 * call that wrote nothing down may have begun it anew, or something of it was erased.
 */
const restoreChunks = async (env: Env, bucket: Bucket, state: Restoring, chunks: string[]): Promise<void> => {
  const left = state.begun === undefined ? { stage: '', at: FIRST } : state.begun;
  const stopAtMs = Date.now() + STEP_MS;
  let count = 0;
  while (state.chunk < chunks.length && count < MAX_LINES && Date.now() < stopAtMs) {
    const lines = await readChunk(bucket, state, chunks);
    count += lines.length;
    try {
      await restoreChunk(env, state, lines);
    } catch (error) {
      if (!(error instanceof StageGone) || !left || (state.begun?.stage ?? '') !== left.stage) throw error;
      Object.assign(state, left.at, { begun: null });
    }
  }
};

/** Restores the next chunks. */
export const restoreStep = async (ctx: AuditCtx, bucket: Bucket, id: string): Promise<Restored> => {
  const { env } = ctx;
  const summary = await readSummary(bucket, id);
  if (!summary) throw new AppError('not_found', { message: 'Backup Not Found' });
  if ('isUnreadable' in summary) throw refuse(UNREADABLE);
  checkBackup(env, summary);
  const { chunks } = summary;
  const record = restoring(bucket);
  const isOver = (await hasAccounts(env)) && !(await record.read());
  const ended = isOver ? await findEnded(ctx, id) : null;
  if (ended) return { ...ended, id, chunks: chunks.length, restoredChunks: chunks.length };
  const { state, etag } = await resume(env, bucket, id);
  // A backup that was begun meanwhile would have some of what comes in.
  await running(bucket).remove();
  await restoreChunks(env, bucket, state, chunks);
  const { chunk, rows, skipped, accounts: restored } = state;
  const hasRows = chunk === chunks.length;
  if (hasRows) state.reloaded = await reloadNext(env, summary.missing, state.reloaded ?? 0);
  const isDone = hasRows && state.reloaded === summary.missing.length;
  if (isDone) {
    for (const { db } of accountDatabases(env)) await writeAllMissing(db);
    // First, so that the restore is known to have ended when the record is gone.
    await auditFirst(ctx, 'service.restore', id, { rows, skipped, accounts: restored });
    await record.remove();
  } else if (!(await record.write(state, etag))) throw refuse('Another call restores the backup.');
  // The last chunk counts as restored once these gates are reloaded, too, because the restore ends with it.
  const restoredChunks = hasRows && !isDone ? chunk - 1 : chunk;
  return { id, rows, skipped, accounts: restored, chunks: chunks.length, restoredChunks };
};
