import { chooseDatabase, type DatabaseEntry } from '../shared/config/databases.ts';

// Which database an account is in. It follows from the account's id, except for those that the map names: the table
// `account_places` of the first database. A service with one database reads no map.

/** How long an isolate uses what it has read of the map. Later, no statement starts before it is read again. */
export const MAP_LEASE_MS = 10_000;

/** A database with its binding. */
export interface Bound extends DatabaseEntry {
  d1: D1Database;
}

interface Place {
  seq: number;
  binding: string;
}

interface PlacesMap {
  byId: Map<string, Place>;
  lastSeq: number;
  /** When the last read began. */
  readMs: number;
}

/** By the value of DATABASES. */
const maps = new Map<string, PlacesMap>();

const READ = 'SELECT seq, id, binding FROM account_places WHERE seq >= ? ORDER BY seq';

const readSince = async (first: Bound, seq: number) =>
  (await first.d1.prepare(READ).bind(seq).all<Place & { id: string }>()).results;

/** Reads what has changed. The last row is read once more: without it, D1 was restored, or an account erased. */
const readMap = async (text: string, first: Bound): Promise<PlacesMap> => {
  const startMs = Date.now();
  let map = maps.get(text);
  let rows = await readSince(first, map?.lastSeq ?? 0);
  if (map && map.lastSeq > 0 && rows[0]?.seq !== map.lastSeq) {
    map = undefined;
    rows = await readSince(first, 0);
  }
  map ??= { byId: new Map(), lastSeq: 0, readMs: startMs };
  for (const { id, seq, binding } of rows) {
    // Reads may overtake one another.
    if (seq >= (map.byId.get(id)?.seq ?? 0)) map.byId.set(id, { seq, binding });
    map.lastSeq = Math.max(map.lastSeq, seq);
  }
  map.readMs = startMs;
  maps.set(text, map);
  return map;
};

/** Returns the database that stores the account. `text` is the value of DATABASES. */
export const findPlace = async <T extends Bound>(
  text: string,
  databases: readonly [T, ...T[]],
  accountId: string,
): Promise<T> => {
  const [first] = databases;
  if (databases.length === 1) return first;
  let map = maps.get(text);
  // A clock that was set back makes the map no younger.
  if (!map || Math.abs(Date.now() - map.readMs) >= MAP_LEASE_MS) map = await readMap(text, first);
  const place = map.byId.get(accountId);
  if (!place) return chooseDatabase(databases, accountId);
  const found = databases.find(({ binding }) => binding === place.binding);
  if (!found) throw new Error(`D1_REFUSED: DATABASES lacks ${place.binding}, which has accounts.`);
  return found;
};
