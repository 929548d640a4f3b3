import type { Journal } from '../../shared/objects/journal.ts';
import { MIN_LEASE_SECONDS } from '../../shared/rules/terms.ts';

const SEAT_TIME = 'seat_time';
/** A restart loses at most this much of the time, so it is no longer than the shortest lease. */
const STORE_INTERVAL_MS = MIN_LEASE_SECONDS * 1_000;

/**
 * The time by which seats are judged: the highest time that the gate has seen, also before a restart. A system clock that
 * is set back therefore neither frees a seat nor prolongs a lease.
 */
export const openSeatClock = (kv: SyncKvStorage, journal: Pick<Journal, 'write'>) => {
  let storedMs = kv.get<number>(SEAT_TIME) ?? 0;
  let highestMs = storedMs;

  const store = () => {
    if (highestMs === storedMs) return;
    journal.write(() => kv.put(SEAT_TIME, highestMs));
    storedMs = highestMs;
  };

  return {
    /** Takes the system's time, and returns the time for seats, which is stored at most once a minute. */
    read: (nowMs: number): number => {
      highestMs = Math.max(highestMs, nowMs);
      if (highestMs - storedMs >= STORE_INTERVAL_MS) store();
      return highestMs;
    },

    /** Stores the time exactly. Needed when a seat changes hands, because two machines must never hold it. */
    store,
  };
};

export type SeatClock = ReturnType<typeof openSeatClock>;
