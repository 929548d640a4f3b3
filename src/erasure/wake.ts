import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { firstDatabase } from '../db/client.ts';
import type { DatabaseCtx } from '../db/ctx.ts';
import { inJson } from '../db/json-rows.ts';
import { deletePosition, type Due, findPositions, savePosition } from '../db/positions.ts';
import { accounts, users } from '../db/schema.ts';
import { gateOf } from '../shared/objects/address.ts';
import { within } from '../shared/objects/within.ts';
import { logError } from '../shared/text/log.ts';

// The scheduled work wakes the gates of accounts of which something is to be erased, those that have waited longest first. Each
// gate does the work from its own alarm. The next run goes on after the last account, so that none that fails is in the way.

/** The most accounts of each kind in a run, each with a call. D1 and objects allow a message 10,000 calls. */
const MAX_ACCOUNTS = 2_000;
const CALLS_AT_ONCE = 20;
const CALL_MS = 5_000;
/** The gates begin one after the other, because all of them load the same database. */
const APART_MS = 200;

interface Kind {
  name: string;
  /** Returns the first accounts after one that are due. */
  find: (after: Due, limit: number) => SQL;
  /** Leaves out accounts that are not to be erased after all. */
  refine?: (ctx: DatabaseCtx, ids: string[]) => Promise<string[]>;
}

const findBy =
  (column: SQLiteColumn) =>
  (after: Due, limit: number): SQL =>
    sql`
    SELECT id, ${column} AS dueMs, rowid AS row FROM ${accounts}
    WHERE ${column} <= ${Date.now()} AND (${column}, rowid) > (${after.dueMs}, ${after.row})
    ORDER BY ${column}, rowid LIMIT ${limit}`;

/** Each account is found with one lookup, however many erasures it has begun. */
const findWithErasures = ({ id }: Due, limit: number): SQL => {
  const next = (after: SQL) => sql`(SELECT min(account_id) FROM erasures WHERE account_id > ${after})`;
  return sql`
    WITH RECURSIVE due(id, number) AS (
      SELECT ${next(sql`${id}`)}, 1
      UNION ALL SELECT ${next(sql`id`)}, number + 1 FROM due WHERE id IS NOT NULL AND number < ${limit}
    )
    SELECT id, 0 AS dueMs, 0 AS row FROM due WHERE id IS NOT NULL`;
};

/** Returns the accounts that have no user. The others stay: only the note of their user was lost. */
const withoutUser = async ({ env, db }: DatabaseCtx, ids: string[]): Promise<string[]> => {
  const rows = await firstDatabase(env)
    .select({ id: users.accountId })
    .from(users)
    .where(sql`${users.accountId} ${inJson(ids)}`);
  const found = new Set(rows.map(({ id }) => id));
  if (found.size > 0)
    await db
      .update(accounts)
      .set({ userDueAt: null })
      .where(sql`${accounts.id} ${inJson([...found])}`);
  return ids.filter((id) => !found.has(id));
};

const KINDS: Kind[] = [
  { name: 'erase_accounts', find: findBy(accounts.eraseAt) },
  { name: 'erase_without_user', find: findBy(accounts.userDueAt), refine: withoutUser },
  { name: 'erase_customers', find: findWithErasures },
];

/** Lets a gate look for what it is to erase. */
export const wakeGate = async (env: Env, id: string, inMs: number): Promise<void> => {
  try {
    await within(CALL_MS, gateOf(env, id).eraseDue(inMs));
  } catch (error) {
    logError('erasure_not_begun', error, { account_id: id });
  }
};

const wakeGates = async (env: Env, ids: string[]): Promise<void> => {
  for (let from = 0; from < ids.length; from += CALLS_AT_ONCE) {
    const some = ids.slice(from, from + CALLS_AT_ONCE);
    await Promise.all(some.map((id, i) => wakeGate(env, id, (from + i) * APART_MS)));
  }
};

const wakeSome = async (ctx: DatabaseCtx, { name, find, refine }: Kind): Promise<void> => {
  const { env, db } = ctx;
  const stored = (await findPositions<Due>(db, [name])).get(name);
  const due = await db.all<Due>(find(stored ?? { id: '', dueMs: 0, row: 0 }, MAX_ACCOUNTS));
  const ids = due.map(({ id }) => id);
  if (ids.length > 0) await wakeGates(env, refine ? await refine(ctx, ids) : ids);
  const last = due.length === MAX_ACCOUNTS ? due.at(-1) : undefined;
  if (last) await savePosition(db, name, last);
  else if (stored) await deletePosition(db, name);
};

export const wakeErasures = async (ctx: DatabaseCtx): Promise<void> => {
  for (const kind of KINDS) await wakeSome(ctx, kind);
};
