import { randomBase62, sortableBase62 } from './random.ts';

export type IdPrefix = 'acct' | 'key' | 'lic' | 'evt' | 'whe' | 'dlv' | 'pay' | 'sub' | 'req';

/** What follows the prefix and its underscore: 8 characters of time, 12 random ones (71 bits). */
export const ID_BODY_LENGTH = 20;
const TIME_LENGTH = 8;

let lastMs = 0;

/** Ids sort by creation: within one isolate strictly, between isolates by their clocks. */
export const newId = (prefix: IdPrefix): string => {
  const nowMs = Date.now();
  // Ids of the same millisecond borrow from the next ones; a clock set back is followed.
  lastMs = lastMs >= nowMs && lastMs - nowMs < 1_000 ? lastMs + 1 : nowMs;
  return `${prefix}_${sortableBase62(lastMs, TIME_LENGTH)}${randomBase62(ID_BODY_LENGTH - TIME_LENGTH)}`;
};

/** Sorts before every id of this instant and after those of earlier ones. */
export const firstIdAt = (prefix: IdPrefix, ms: number) => `${prefix}_${sortableBase62(ms, TIME_LENGTH)}`;

export const idPattern = (prefix: IdPrefix) => new RegExp(`^${prefix}_[0-9A-Za-z]{${ID_BODY_LENGTH}}$`);
