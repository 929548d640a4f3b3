import { accountDatabases, type NamedDatabase } from '../db/client.ts';
import { setPlace } from '../db/room.ts';
import type { MOVED_STATES } from '../db/schema.ts';
import type { FeedPosition } from '../gate/rules/rows.ts';
import { chooseDatabase } from '../shared/config/databases.ts';
import { DAY_MS, isoDate } from '../shared/rules/dates.ts';
import type { MoveRoute } from './copy.ts';

// What the databases of a move are told: from the first row on, no write of the account's is committed in either of them.

type MovedState = (typeof MOVED_STATES)[number];

const mark = async ({ d1 }: NamedDatabase, accountId: string, state: MovedState, other: string | null) => {
  await d1
    .prepare('INSERT OR REPLACE INTO moved_accounts (id, state, other, changed_at) VALUES (?, ?, ?, ?)')
    .bind(accountId, state, other, Date.now())
    .run();
};

/** Refuses writes, first where nothing is yet. */
export const closeAccount = async ({ accountId, from, to }: MoveRoute): Promise<void> => {
  await mark(to, accountId, 'arriving', from.binding);
  await mark(from, accountId, 'leaving', to.binding);
};

/** Lets the account's rows in a database be written again. Only a guest is noted. */
export const openAccount = async (env: Env, database: NamedDatabase, accountId: string): Promise<void> => {
  if (chooseDatabase(accountDatabases(env), accountId).binding !== database.binding)
    return mark(database, accountId, 'guest', null);
  await database.d1.prepare('DELETE FROM moved_accounts WHERE id = ?').bind(accountId).run();
};

/** The database has no rows of the account any more. It refuses writes of whoever still takes it for the account's. */
export const noteGone = (database: NamedDatabase, accountId: string): Promise<void> =>
  mark(database, accountId, 'gone', null);

/** Begins the account's feed in the other database, whose rows have numbers of their own. Returns where the gate goes on. */
export const beginFeed = async ({ accountId, to }: MoveRoute): Promise<FeedPosition> => {
  const atMs = Date.now();
  const [, inserted] = await to.d1.batch<{ seq: number }>([
    to.d1.prepare('DELETE FROM feed WHERE account_id = ?').bind(accountId),
    to.d1
      .prepare(
        `INSERT INTO feed (account_id, kind, ref, created_at) VALUES (?1, 'account', ?1, ?2) RETURNING seq`,
      )
      .bind(accountId, atMs),
  ]);
  const seq = inserted?.results[0]?.seq;
  if (seq === undefined) throw new Error('The feed has not begun.');
  return { appliedSeq: seq, appliedAt: atMs, movedAt: atMs };
};

/** From now on, isolates that read the map find the account in the other database. */
export const switchPlace = async (env: Env, { accountId, to }: MoveRoute): Promise<void> => {
  await setPlace(env, accountId, to.binding).run();
};

/** Whether an account moves into the database, or out of it. */
export const isMoving = async ({ d1 }: NamedDatabase): Promise<boolean> =>
  (await d1
    .prepare(`SELECT 1 AS one FROM moved_accounts WHERE state IN ('leaving', 'arriving') LIMIT 1`)
    .first()) !== null;

export const isAnyMoving = async (env: Env): Promise<boolean> => {
  const databases = accountDatabases(env);
  if (databases.length === 1) return false;
  return (await Promise.all(databases.map(isMoving))).includes(true);
};

const readPass = async ({ d1 }: NamedDatabase): Promise<string | null> =>
  (await d1.prepare('SELECT day FROM expiry_pass').first<{ day: string }>())?.day ?? null;

/**
 * Whether the events of today's expiring licenses were sent in both databases, or are in neither. Otherwise the account would have
 * them twice, or not at all. A database that was never looked at begins with the day of the other one.
 */
export const areExpiriesTold = async ({ from, to }: MoveRoute): Promise<boolean> => {
  const [here, there] = await Promise.all([readPass(from), readPass(to)]);
  if (here === null) return there === null;
  if (here <= isoDate(Date.now())) return false;
  if (there === null)
    await to.d1
      .prepare(
        `INSERT OR IGNORE INTO expiry_pass (id, day, account_id, step, license_id, told_through)
         VALUES (1, ?, '', 0, '', '')`,
      )
      .bind(here)
      .run();
  return there === null || here === there;
};

/** Whether a backup of the service is made or restored: it would have the account twice, or not at all. */
export const isBackedUp = async ({ BACKUPS }: { BACKUPS?: R2Bucket }): Promise<boolean> => {
  if (!BACKUPS) return false;
  const [running, restoring] = await Promise.all([BACKUPS.head('running'), BACKUPS.head('restoring')]);
  return running !== null || (restoring !== null && restoring.uploaded.getTime() > Date.now() - DAY_MS);
};
