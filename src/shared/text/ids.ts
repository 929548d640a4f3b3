import { fromSortableBase62, random16Bits, randomBase62, sortableBase62 } from '../crypto/random.ts';
import { DAY_MS } from '../rules/dates.ts';

export type IdPrefix =
  | 'acct'
  | 'key'
  | 'lic'
  | 'evt'
  | 'whe'
  | 'dlv'
  | 'pay'
  | 'sub'
  | 'act'
  | 'req'
  | 'aud'
  | 'ses'
  | 'svc'
  | 'inv'
  | 'pse'
  | 'pch'
  | 'bak'
  | 'sto'
  | 'pur'
  | 'msg';

/** An id after its prefix: 8 characters of time, 3 of a sequence and 9 random characters (70 random bits in all). */
export const ID_BODY_LENGTH = 20;
const TIME_LENGTH = 8;
const LATEST_MS = 62 ** TIME_LENGTH - 1;
const SEQUENCE_LENGTH = 3;
const SEQUENCE_SIZE = 62 ** SEQUENCE_LENGTH;

let lastMs = 0;
let sequence = 0;

/** Ids sort by creation time: strictly within an isolate, and by the isolates' clocks across isolates. */
export const newId = (prefix: IdPrefix): string => {
  const nowMs = Date.now();
  sequence++;
  // While the clock stands still or was set back, the sequence goes on counting within the last millisecond. Only a
  // clock that was more than a day ahead is followed back: its ids would otherwise never reach their retention time.
  const isMisset = lastMs - nowMs > DAY_MS;
  if (nowMs > lastMs || isMisset || sequence === SEQUENCE_SIZE) {
    lastMs = isMisset ? nowMs : Math.max(nowMs, lastMs + 1);
    sequence = random16Bits();
  }
  const ordered = sortableBase62(lastMs, TIME_LENGTH) + sortableBase62(sequence, SEQUENCE_LENGTH);
  return `${prefix}_${ordered}${randomBase62(ID_BODY_LENGTH - TIME_LENGTH - SEQUENCE_LENGTH)}`;
};

/** Returns an id that sorts as if it had been created at `ms`. */
export const newIdAt = (prefix: IdPrefix, ms: number): string =>
  firstIdAt(prefix, ms) + randomBase62(ID_BODY_LENGTH - TIME_LENGTH);

/** Returns a string that sorts before all ids created at or after `ms`, and after all earlier ids. */
export const firstIdAt = (prefix: IdPrefix, ms: number) =>
  `${prefix}_${sortableBase62(Math.min(Math.max(ms, 0), LATEST_MS), TIME_LENGTH)}`;

/** Returns the time in an id. */
export const idTimeMs = (id: string): number => {
  const start = id.indexOf('_') + 1;
  return fromSortableBase62(id.slice(start, start + TIME_LENGTH));
};

export const idPattern = (prefix: IdPrefix) => new RegExp(`^${prefix}_[0-9A-Za-z]{${ID_BODY_LENGTH}}$`);
