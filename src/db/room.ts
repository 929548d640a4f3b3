import { CLOSED_BYTES } from '../shared/config/places.ts';
import { accountDatabases, type NamedDatabase, placeOf } from './client.ts';
import { MAP_LEASE_MS } from './places.ts';

// Where a new account goes: to the database of its id, unless that is closed because it is nearly full.

/** How long an isolate takes a size for the present one. */
const SIZE_MS = 60_000;

const sizes = new WeakMap<D1Database, { bytes: number; readMs: number }>();

export const readSize = async ({ d1 }: NamedDatabase): Promise<number> =>
  (await d1.prepare('SELECT 1').run()).meta.size_after;

const hasRoom = async (database: NamedDatabase): Promise<boolean> => {
  let known = sizes.get(database.d1);
  if (!known || Math.abs(Date.now() - known.readMs) >= SIZE_MS) {
    known = { bytes: await readSize(database), readMs: Date.now() };
    sizes.set(database.d1, known);
  }
  return known.bytes < CLOSED_BYTES;
};

/** Returns the database for a new account: its own, or otherwise the newest one that has room. Null if none has. */
export const findRoom = async (env: Env, accountId: string): Promise<NamedDatabase | null> => {
  const own = await placeOf(env, accountId);
  if (await hasRoom(own)) return own;
  for (const database of accountDatabases(env).toReversed())
    if (database.binding !== own.binding && (await hasRoom(database))) return database;
  return null;
};

/** Returns the statement that names the account's database in the map. */
export const setPlace = (env: Env, accountId: string, binding: string) => {
  const { d1 } = accountDatabases(env)[0];
  // A new row has a later number than each before it.
  return d1
    .prepare('INSERT OR REPLACE INTO account_places (id, binding, changed_at) VALUES (?, ?, ?)')
    .bind(accountId, binding, Date.now());
};

/** Lets every isolate know, before there is an account, that it is in a database that isn't that of its id. */
export const settleIn = async (env: Env, accountId: string, { d1, binding }: NamedDatabase) => {
  const query = 'INSERT OR REPLACE INTO moved_accounts (id, state, changed_at) VALUES (?, ?, ?)';
  // The database of the id refuses writes of whoever has not read the map by then.
  const own = await placeOf(env, accountId);
  await own.d1.prepare(query).bind(accountId, 'gone', Date.now()).run();
  await d1.prepare(query).bind(accountId, 'guest', Date.now()).run();
  await setPlace(env, accountId, binding).run();
  await scheduler.wait(MAP_LEASE_MS);
};

/** Forgets where the account was. Nothing of it is left. */
export const forgetPlace = async (env: Env, accountId: string): Promise<void> => {
  const databases = accountDatabases(env);
  if (databases.length === 1) return;
  for (const { d1 } of databases)
    await d1.prepare('DELETE FROM moved_accounts WHERE id = ?').bind(accountId).run();
  await databases[0].d1.prepare('DELETE FROM account_places WHERE id = ?').bind(accountId).run();
};
