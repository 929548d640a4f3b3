import type { DatabaseEntry } from './databases.ts';

// Each database remembers which one it is, so that a mistake in DATABASES, or in the bindings, is noticed before anything is
// read from, or written to, the wrong database.

export type DatabasePlace = Pick<DatabaseEntry, 'binding' | 'firstAccountId'>;

/** What is known of the database of an entry. */
export interface Found {
  /** Null if the database has never been used. */
  identity: { serviceId: string; binding: string; places: DatabasePlace[] } | null;
  /** The first and the last account that it stores. */
  firstId: string | null;
  lastId: string | null;
  hasUsers: boolean;
  /** What the database takes. */
  sizeBytes: number;
}

/** A database of this size takes no new accounts, so that those that it has can grow. */
export const CLOSED_BYTES = 8_000_000_000;
/** D1 refuses to write to a database of 10 GB. */
export const NEARLY_FULL_BYTES = 9_000_000_000;

const gigabytes = (bytes: number) => (bytes / 1_000_000_000).toFixed(1);

/** Says which databases have little room left, or null. */
export const findNearlyFull = (
  databases: readonly Pick<DatabaseEntry, 'binding'>[],
  found: readonly Pick<Found, 'sizeBytes'>[],
): string | null => {
  const full = databases.flatMap(({ binding }, i) => {
    const { sizeBytes = 0 } = found[i] ?? {};
    return sizeBytes < NEARLY_FULL_BYTES ? [] : [`${binding} (${gigabytes(sizeBytes)} of 10 GB)`];
  });
  return full.length === 0 ? null : `nearly full: ${full.join(', ')}`;
};

interface Database extends DatabasePlace, Found {}

const isEmpty = ({ firstId, hasUsers }: Found) => firstId === null && !hasUsers;

/** Finds a database that is not the one that its entry means. */
const findStranger = (databases: Database[], firstPlace: string | undefined): string | null => {
  const [serviceId] = databases.flatMap(({ identity }) => identity?.serviceId ?? []);
  for (const { binding, identity } of databases) {
    if (identity && identity.binding !== binding)
      return `${binding} is bound to the database that was ${identity.binding}.`;
    if (identity && identity.serviceId !== serviceId)
      return `${binding} is a database of another service than the ones before it.`;
  }
  const [first] = databases;
  return firstPlace === undefined || firstPlace === first?.binding
    ? null
    : `DATABASES must begin with ${firstPlace}, which has the users.`;
};

/** Finds an empty database in the place of one that was in use. */
const findReplaced = (databases: Database[], known: DatabasePlace[]): string | null => {
  const isKnown = ({ binding }: DatabasePlace) => known.some((place) => place.binding === binding);
  const replaced = databases.find(
    (database, i) =>
      !database.identity &&
      isEmpty(database) &&
      (isKnown(database) || databases.slice(i + 1).some(({ identity }) => identity)),
  );
  return replaced ? `${replaced.binding} is bound to a new database, which has none of its data.` : null;
};

/** Finds accounts that would be looked for in another database. */
const findMisplaced = (databases: Database[], known: DatabasePlace[]): string | null => {
  const missing = known.find(
    ({ binding, firstAccountId }) =>
      !databases.some(
        (database) => database.binding === binding && database.firstAccountId === firstAccountId,
      ),
  );
  if (missing)
    return `${missing.binding} has left DATABASES, or has another day there, but its day has come.`;
  const misplaced = databases.find(({ firstAccountId, firstId, lastId }, i) => {
    const endId = databases[i + 1]?.firstAccountId;
    return (
      (firstId !== null && firstId < firstAccountId) ||
      (lastId !== null && endId !== undefined && lastId >= endId)
    );
  });
  return misplaced
    ? `${misplaced.binding} has accounts that, by the days in DATABASES, are in another database.`
    : null;
};

/**
 * Returns what is wrong with DATABASES, or null. An entry whose day is still to come may change or go. `nowId` sorts between the
 * ids of accounts that were and that will be made.
 */
export const findMistake = (
  entries: readonly DatabasePlace[],
  found: readonly Found[],
  nowId: string,
): string | null => {
  const databases = entries.flatMap((entry, i) => (found[i] ? [{ ...entry, ...found[i] }] : []));
  const [identity] = databases.flatMap((database) => database.identity ?? []);
  const known = (databases[0]?.identity?.places ?? []).filter(
    ({ firstAccountId }) => firstAccountId <= nowId,
  );
  return (
    findStranger(databases, identity?.places[0]?.binding) ??
    findReplaced(databases, known) ??
    findMisplaced(databases, known)
  );
};
