import type { FoundLicenses, LicenseSearch } from '../rules/seats.ts';
import type { SeatCounter } from './seat-counts.ts';

// Which licenses have a machine, or seats that are taken, in the order of their ids, which is that of their creation.

/** Machines whose names begin with a text are found while they are so few. Otherwise only those with exactly this name are. */
export const MAX_BEGINNINGS = 1_000;
/** Entries that a page reads of each index. */
const MAX_ENTRIES = 1_000;
/** A page that looks for licenses with taken seats reads so many machines for each of them. */
export const MACHINES_PER_LICENSE = 10;

/** Indexes that tell a license by one of its machines. Each has the licenses of one value in order. */
export const MACHINE_INDEXES = `
  CREATE INDEX activations_by_activation ON activations (id, license_id);
  CREATE INDEX activations_by_fingerprint ON activations (fingerprint, license_id);
  CREATE INDEX activations_by_name ON activations (name COLLATE NOCASE, license_id) WHERE name IS NOT NULL;
  UPDATE machine_totals SET prune_at_ms = 0;`;

const VALUES = {
  activations_by_activation: 'id',
  activations_by_fingerprint: 'fingerprint',
  activations_by_name: 'name COLLATE NOCASE',
};
type Index = keyof typeof VALUES;

/** Sorts after every other character. */
const LAST_CHARACTER = '\u{10ffff}';

const orderOf = (isDescending: boolean) =>
  isDescending ? { after: '<', direction: 'DESC', first: '~' } : { after: '>', direction: 'ASC', first: '' };

export const openFindLicenses = (sql: SqlStorage, counts: Pick<SeatCounter, 'at'>) => {
  const ids = (query: string, ...bindings: (string | number)[]): string[] =>
    sql
      .exec<{ license_id: string }>(query, ...bindings)
      .toArray()
      .map((row) => row.license_id);

  /** Returns the next licenses in order whose machines have the value, and the last one if there may be more. */
  const idsByValue = (index: Index, value: string, { after, isDescending }: LicenseSearch) => {
    const order = orderOf(isDescending);
    const entries = ids(
      `SELECT license_id FROM activations INDEXED BY ${index}
       WHERE ${VALUES[index]} = ? AND license_id ${order.after} ?
       ORDER BY license_id ${order.direction} LIMIT ${MAX_ENTRIES}`,
      value,
      after ?? order.first,
    );
    return { entries, end: entries.length === MAX_ENTRIES ? (entries.at(-1) ?? null) : null };
  };

  /** Returns the licenses, in no order, or null if there are too many. */
  const idsByBeginning = (text: string): string[] | null => {
    const entries = ids(
      `SELECT license_id FROM activations INDEXED BY activations_by_name
       WHERE name COLLATE NOCASE >= ?1 AND name COLLATE NOCASE < ?2 LIMIT ${MAX_BEGINNINGS + 1}`,
      text,
      text + LAST_CHARACTER,
    );
    return entries.length > MAX_BEGINNINGS ? null : entries;
  };

  const byMachine = (machine: string, search: LicenseSearch): FoundLicenses => {
    const { isDescending, limit, after } = search;
    const sign = isDescending ? -1 : 1;
    const compare = (a: string, b: string) => (a === b ? 0 : a < b ? -sign : sign);
    const isAfter = (id: string) => after === null || compare(id, after) > 0;
    const named = idsByBeginning(machine);
    const found = [
      named
        ? { entries: named.filter(isAfter), end: null }
        : idsByValue('activations_by_name', machine, search),
      idsByValue('activations_by_fingerprint', machine, search),
      idsByValue('activations_by_activation', machine, search),
    ];
    // Beyond the first end, one of the indexes may have licenses that were not read.
    const [end = null] = found.flatMap((one) => one.end ?? []).toSorted(compare);
    const all = [...new Set(found.flatMap(({ entries }) => entries))]
      .filter((id) => end === null || compare(id, end) <= 0)
      .toSorted(compare);
    const licenses = all.slice(0, limit).map((id): [string] => [id]);
    return { licenses, continuesAfter: all.length > limit ? (licenses.at(-1)?.[0] ?? null) : end };
  };

  /** Reads a bounded number of machines. The last license may have more, so that its seats are counted as for a verify. */
  const byUse = ({ isDescending, limit, after }: LicenseSearch, nowMs: number): FoundLicenses => {
    const order = orderOf(isDescending);
    const most = limit * MACHINES_PER_LICENSE;
    const licenses: [string, number][] = [];
    let read = 0;
    const groups = sql.exec<{ id: string; machines: number; used: number }>(
      `SELECT license_id AS id, count(*) AS machines, sum(is_live) AS used FROM (
         SELECT license_id, live_until_ms > ? AS is_live FROM activations
         WHERE license_id ${order.after} ? ORDER BY license_id ${order.direction} LIMIT ?
       ) GROUP BY license_id ORDER BY license_id ${order.direction}`,
      nowMs,
      after ?? order.first,
      most,
    );
    for (const { id, machines, used } of groups) {
      read += machines;
      const isCut = read === most;
      const taken = isCut ? counts.at(id, nowMs).used : used;
      if (taken > 0) licenses.push([id, taken]);
      if (isCut || licenses.length === limit) return { licenses, continuesAfter: id };
    }
    return { licenses, continuesAfter: null };
  };

  return (search: LicenseSearch, nowMs: number): FoundLicenses =>
    search.machine === null ? byUse(search, nowMs) : byMachine(search.machine, search);
};
