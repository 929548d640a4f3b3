import { createLru } from '../../shared/memory/lru.ts';
import { FOREVER_MS, type SeatCounts, TRANSFER_MS } from '../rules/seats.ts';

// How many seats of a license are live, and how many machines had one within 30 days. A license's rows are counted when it is
// asked for the first time, and again once 200 leases have ended or moved: no call counts them for itself.

/**
 * Counts moments that are still to come, such as the ends of leases. It knows the next ones and how many there are in all, so
 * that most of them pass, come and go without reading any rows.
 */
interface Countdown {
  count: number;
  /** The next moments in order, each with how often it occurs: all before `knownUntilMs`. */
  next: Moment[];
  knownUntilMs: number;
  /** Earlier moments have passed. */
  nowMs: number;
}

interface Moment {
  atMs: number;
  times: number;
}

const MOMENTS_KNOWN = 200;

/** Returns the index of the first moment that isn't before a time. */
const indexOf = (next: Moment[], atMs: number): number => {
  let [low, high] = [0, next.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((next[middle]?.atMs ?? Infinity) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
};

const forgetFrom = (countdown: Countdown, index: number) => {
  const { next } = countdown;
  const from = next[index];
  if (!from) return;
  countdown.knownUntilMs = from.atMs;
  next.length = index;
};

/** `next` are the next moments of all, in order. If there are more than a countdown knows, it has at least one more. */
const newCountdown = (count: number, next: Moment[], nowMs: number): Countdown => {
  const countdown = { count, next, knownUntilMs: Infinity, nowMs };
  forgetFrom(countdown, MOMENTS_KNOWN);
  return countdown;
};

/** Lets time pass. Returns false if the moments have to be read again, because later ones than the known are next. */
const advance = (countdown: Countdown, nowMs: number): boolean => {
  const { next } = countdown;
  countdown.nowMs = Math.max(countdown.nowMs, nowMs);
  const passed = next.splice(0, indexOf(next, countdown.nowMs + 1));
  for (const { times } of passed) countdown.count -= times;
  return countdown.knownUntilMs === Infinity || next.length > 0;
};

/** Returns the moment through which the next `n` will have passed, or null if it isn't among those that are known. */
const momentOf = ({ next }: Countdown, n: number): number | null => {
  let passed = 0;
  return next.find(({ times }) => (passed += times) >= n)?.atMs ?? null;
};

const addMoment = (countdown: Countdown, atMs: number): void => {
  const { next, nowMs, knownUntilMs } = countdown;
  if (atMs <= nowMs) return;
  countdown.count++;
  if (atMs >= knownUntilMs) return;
  const index = indexOf(next, atMs);
  const found = next[index];
  if (found?.atMs === atMs) found.times++;
  else next.splice(index, 0, { atMs, times: 1 });
  if (next.length > 2 * MOMENTS_KNOWN) forgetFrom(countdown, MOMENTS_KNOWN);
};

const removeMoment = (countdown: Countdown, atMs: number): void => {
  const { next, nowMs, knownUntilMs } = countdown;
  if (atMs <= nowMs) return;
  countdown.count--;
  if (atMs >= knownUntilMs) return;
  const index = indexOf(next, atMs);
  const found = next[index];
  if (found?.atMs !== atMs) return;
  if (--found.times === 0) next.splice(index, 1);
};

const LICENSES_IN_MEMORY = 500;
const MOMENTS_READ = 201;

export interface KnownCounts extends SeatCounts {
  /** When the next live seat ends, or `FOREVER_MS`. */
  nextEndMs: number;
  /** All rows, also those that are older than 30 days. */
  rows: number;
  /** Those of them that have released their seats. */
  released: number;
}

/** How a row's seat ends. */
interface SeatEnd {
  atMs: number;
  isReleased: boolean;
}

export type SeatEndRow = { live_until_ms: number; released_at_ms: number | null };
export const endOfRow = ({ live_until_ms: atMs, released_at_ms: releasedAtMs }: SeatEndRow): SeatEnd => ({
  atMs,
  isReleased: releasedAtMs !== null,
});

interface Counted {
  live: Countdown;
  /** By the ends of seats as well, 30 days behind. */
  recent: Countdown;
  rows: number;
  released: number;
}

export const openSeatCounts = (sql: SqlStorage) => {
  const known = createLru<Counted>(LICENSES_IN_MEMORY);

  const countdownFrom = (licenseId: string, count: number, nowMs: number): Countdown => {
    const next = sql.exec<{ atMs: number; times: number }>(
      `SELECT live_until_ms AS atMs, count(*) AS times FROM activations WHERE license_id = ? AND live_until_ms > ?
       GROUP BY live_until_ms ORDER BY live_until_ms LIMIT ${MOMENTS_READ}`,
      licenseId,
      nowMs,
    );
    return newCountdown(count, next.toArray(), nowMs);
  };

  const read = (licenseId: string, nowMs: number): Counted => {
    const { live, recent, rows, released } = sql
      .exec<{ live: number; recent: number; rows: number; released: number }>(
        `SELECT count(*) FILTER (WHERE live_until_ms > ?2) AS live,
           count(*) FILTER (WHERE live_until_ms > ?3) AS recent, count(*) AS rows, count(released_at_ms) AS released
         FROM activations WHERE license_id = ?1`,
        licenseId,
        nowMs,
        nowMs - TRANSFER_MS,
      )
      .one();
    return {
      live: countdownFrom(licenseId, live, nowMs),
      recent: countdownFrom(licenseId, recent, nowMs - TRANSFER_MS),
      rows,
      released,
    };
  };

  const countedAt = (licenseId: string, nowMs: number): Counted => {
    const counted = known.get(licenseId);
    if (counted && advance(counted.live, nowMs) && advance(counted.recent, nowMs - TRANSFER_MS))
      return counted;
    const fresh = read(licenseId, nowMs);
    known.set(licenseId, fresh);
    return fresh;
  };

  /** Reads all rows of the license. It is needed only if a limit was lowered by more than are known. */
  const readEnd = (licenseId: string, n: number, nowMs: number): number => {
    const [row] = sql.exec<{ endMs: number }>(
      `SELECT live_until_ms AS endMs FROM activations WHERE license_id = ? AND live_until_ms > ?
       ORDER BY live_until_ms LIMIT 1 OFFSET ?`,
      licenseId,
      nowMs - TRANSFER_MS,
      n - 1,
    );
    return row?.endMs ?? FOREVER_MS;
  };

  return {
    at: (licenseId: string, nowMs: number): KnownCounts => {
      const { live, recent, rows, released } = countedAt(licenseId, nowMs);
      const nextEndMs = live.next[0]?.atMs ?? FOREVER_MS;
      return { used: live.count, recent: recent.count, nextEndMs, rows, released };
    },

    /** When the next `n` machines will have had no seat for 30 days, or `FOREVER_MS`. */
    goneAtMs: (licenseId: string, n: number, nowMs: number): number => {
      const endMs = momentOf(countedAt(licenseId, nowMs).recent, n) ?? readEnd(licenseId, n, nowMs);
      return Math.min(endMs + TRANSFER_MS, FOREVER_MS);
    },

    /** Notes that a row has changed: how its seat ended before, and how it ends now, or null if there is no row. */
    note: (licenseId: string, before: SeatEnd | null, after: SeatEnd | null) => {
      const counted = known.get(licenseId);
      if (!counted) return;
      if (before?.atMs !== after?.atMs)
        for (const countdown of [counted.live, counted.recent]) {
          if (before) removeMoment(countdown, before.atMs);
          if (after) addMoment(countdown, after.atMs);
        }
      counted.rows += Number(after !== null) - Number(before !== null);
      counted.released += Number(after?.isReleased ?? false) - Number(before?.isReleased ?? false);
    },

    forget: known.delete,
  };
};

export type SeatCounter = ReturnType<typeof openSeatCounts>;
