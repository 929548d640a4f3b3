import { isoDate } from '../rules/dates.ts';
import { firstIdAt } from '../text/ids.ts';
import { InvalidText } from './parse.ts';

// Account ids begin with their time of creation, so an account's database follows from its id alone.

/** A database of the variable DATABASES. */
export interface DatabaseEntry {
  /** The name of its D1 binding. */
  binding: string;
  /** Sorts before the ids of the accounts that are stored in it, and after those in the databases before it. */
  firstAccountId: string;
}

const ENTRY = /^(\w+)(?:@(\d{4}-\d{2}-\d{2}))?$/;

const isDate = (date: string) => !Number.isNaN(Date.parse(date)) && isoDate(Date.parse(date)) === date;

/** Parses a list such as `DB, DB2@2027-03-01`: accounts created from that day on (UTC) are stored in DB2. */
export const parseDatabases = (text: string): [DatabaseEntry, ...DatabaseEntry[]] => {
  const entries: DatabaseEntry[] = [];
  let earlierDate: string | undefined;
  for (const part of text.split(',')) {
    const [, binding, date] = ENTRY.exec(part.trim()) ?? [];
    if (!binding || (date !== undefined && !isDate(date))) {
      throw new InvalidText('must be a list of D1 bindings, such as "DB" or "DB, DB2@2027-03-01".');
    }
    if (entries.some((entry) => entry.binding === binding)) {
      throw new InvalidText(`names ${binding} twice.`);
    }
    if (entries.length === 0 && date !== undefined) {
      throw new InvalidText(`must not have a date for its first entry, ${binding}.`);
    }
    if (entries.length > 0 && (date === undefined || date <= (earlierDate ?? '1970-01-01'))) {
      throw new InvalidText(`needs a date for ${binding} that is later than the dates before it.`);
    }
    entries.push({ binding, firstAccountId: date === undefined ? '' : firstIdAt('acct', Date.parse(date)) });
    earlierDate = date;
  }
  return entries as [DatabaseEntry, ...DatabaseEntry[]];
};

/** Returns the entry of the database that stores the account. */
export const chooseDatabase = <T extends DatabaseEntry>(
  entries: readonly [T, ...T[]],
  accountId: string,
): T => entries.findLast(({ firstAccountId }) => accountId >= firstAccountId) ?? entries[0];
