import { randomBase62, sortableBase62 } from './random.ts';

export type IdPrefix = 'acct' | 'key' | 'lic' | 'evt' | 'whe' | 'dlv' | 'pay' | 'sub' | 'req';

/** An id after its prefix: 8 characters of time and 12 random characters (71 bits). */
export const ID_BODY_LENGTH = 20;
const TIME_LENGTH = 8;

let lastMs = 0;

/** Ids sort by creation time: strictly within an isolate, and by the isolates' clocks across isolates. */
export const newId = (prefix: IdPrefix): string => {
  const nowMs = Date.now();
  // Ids created in the same millisecond use the following milliseconds, up to a second ahead of the clock. If the clock
  // was set back further than that, ids follow it.
  lastMs = lastMs >= nowMs && lastMs - nowMs < 1_000 ? lastMs + 1 : nowMs;
  return `${prefix}_${sortableBase62(lastMs, TIME_LENGTH)}${randomBase62(ID_BODY_LENGTH - TIME_LENGTH)}`;
};

/** Returns a string that sorts before all ids created at or after `ms`, and after all earlier ids. */
export const firstIdAt = (prefix: IdPrefix, ms: number) => `${prefix}_${sortableBase62(ms, TIME_LENGTH)}`;

export const idPattern = (prefix: IdPrefix) => new RegExp(`^${prefix}_[0-9A-Za-z]{${ID_BODY_LENGTH}}$`);
