import { ownValue } from '../../shared/objects/own-values.ts';
import { isSameDay } from '../../shared/rules/dates.ts';
import type { CountedCall } from '../rules/usage.ts';

/** A licensing call that is counted once its change is committed. Until then, it lowers what remains of the usage limit. */
export interface Reservation {
  /** Calls with the same key are repeats, of which one at most is committed, so they share a reservation. */
  key: string;
  call: CountedCall;
  periodStartMs: number;
  atMs: number;
}

/** A change that was announced and whose outcome the gate doesn't know yet. */
interface Announced {
  /** Names the change in the calls of its request. */
  token: string;
  atMs: number;
  /** The id of the row that the change creates or updates. */
  ref: string;
  /** Null if the call isn't counted, or was counted already. */
  reservation: Reservation | null;
  /** How many changes of the day it is. Absent in what version 1.0 has stored. */
  changes?: number;
}

const MAX_ANNOUNCED = 1_000;
/** D1 gives up on a query long before. */
const LAST_CHECK_MS = 90_000;
/**
 * When the alarm checks D1 for an announced change whose request may have died after its commit. Each check comes after about
 * twice the time of the one before: verify sees a commit within 3 s or, if D1 was slower, within the time that D1 took for it.
 */
const CHECKS_MS = [3_000, 6_000, 12_000, 24_000, 48_000, LAST_CHECK_MS];

const ANNOUNCED = ownValue('announced');

/** No change has this token. Version 1.0, which counts elsewhere, drops the entry like a change that was never committed. */
const TODAY = '';
const noChanges: Announced = { token: TODAY, atMs: 0, ref: '', reservation: null, changes: 0 };

/**
 * The announced changes, and how many there were on the day of the last one, as an entry of the same stored value. A reservation
 * goes when its call is counted, or with the last change that shares it.
 */
export const openAnnounced = (kv: SyncKvStorage) => {
  const stored = kv.get<Announced[]>(ANNOUNCED) ?? [];
  let announced = stored.filter(({ token }) => token !== TODAY);
  let today = stored.find(({ token }) => token === TODAY) ?? noChanges;
  let reserved = new Map<number, number>();
  let isWritten = true;

  const reservations = () => {
    const byKey = new Map<string, Reservation>();
    for (const { reservation } of announced) if (reservation) byKey.set(reservation.key, reservation);
    return byKey;
  };

  const countReserved = () => {
    reserved = new Map();
    for (const { periodStartMs } of reservations().values())
      reserved.set(periodStartMs, (reserved.get(periodStartMs) ?? 0) + 1);
  };
  countReserved();

  const update = (changes: Announced[]) => {
    announced = changes;
    isWritten = false;
    countReserved();
  };

  /** Returns the reservations of committed changes, which are to be counted now. */
  const take = (isCommitted: (change: Announced) => boolean): Reservation[] => {
    const taken = new Map<string, Reservation>();
    for (const change of announced)
      if (change.reservation && isCommitted(change)) taken.set(change.reservation.key, change.reservation);
    if (taken.size > 0)
      update(
        announced.map((change) =>
          taken.has(change.reservation?.key ?? '') ? { ...change, reservation: null } : change,
        ),
      );
    return [...taken.values()];
  };

  const remove = (isOver: (change: Announced) => boolean) => {
    if (announced.some(isOver)) update(announced.filter((change) => !isOver(change)));
  };

  const changesToday = (nowMs: number) => (isSameDay(today.atMs, nowMs) ? (today.changes ?? 0) : 0);

  const setChangesToday = (changes: number, atMs: number) => {
    today = { ...today, changes, atMs };
    isWritten = false;
  };

  return {
    write: () => {
      if (isWritten) return;
      isWritten = true;
      kv.put(ANNOUNCED, [...announced, today]);
    },

    changesToday,

    /** Counts changes of the day, also those that are never announced. */
    countChanges: (changes: number, nowMs: number) => setChangesToday(changesToday(nowMs) + changes, nowMs),

    /** Takes back changes that were counted at a time and then not made. */
    forgetChanges: (changes: number, countedMs: number) => {
      if (isSameDay(today.atMs, countedMs))
        setChangesToday(Math.max(0, changesToday(countedMs) - changes), today.atMs);
    },

    isEmpty: () => announced.length === 0,
    isFull: () => announced.length >= MAX_ANNOUNCED,
    has: (token: string) => announced.some((change) => change.token === token),
    hasRef: (ref: string) => announced.some((change) => change.ref === ref),

    /** How many calls of a period are reserved. */
    reserved: (periodStartMs: number) => reserved.get(periodStartMs) ?? 0,

    reservation: (key: string): Reservation | null => reservations().get(key) ?? null,

    add: (change: Announced) => update([...announced, change]),

    /** These rows have come from the feed, so the changes that announced them were committed. */
    takeApplied: (refs: ReadonlySet<string>): Reservation[] => take(({ ref }) => refs.has(ref)),

    /** The change was committed and applied. */
    settle: (token: string): Reservation[] => {
      const taken = take((change) => change.token === token);
      remove((change) => change.token === token);
      return taken;
    },

    /** The change was not committed. Returns it, unless it was abandoned before. */
    abandon: (token: string): Announced | undefined => {
      const abandoned = announced.find((change) => change.token === token);
      remove((change) => change.token === token);
      return abandoned;
    },

    /** Drops changes that were never committed: when D1 was read after `readMs`, they were older than any query can get. */
    dropUncommitted: (readMs: number) => remove(({ atMs }) => readMs >= atMs + LAST_CHECK_MS),

    /** Carries the reservations of one period over to another. */
    carry: (fromStartMs: number, toStartMs: number) => {
      if (!reserved.has(fromStartMs)) return;
      update(
        announced.map((change) =>
          change.reservation?.periodStartMs === fromStartMs
            ? { ...change, reservation: { ...change.reservation, periodStartMs: toStartMs } }
            : change,
        ),
      );
    },

    /** When D1 has to be checked for changes whose requests may have died. */
    dueMs: (nowMs: number): number | null => {
      const dueMs = announced.map(({ atMs }) => {
        const checkMs = CHECKS_MS.find((ms) => atMs + ms > nowMs);
        return checkMs === undefined ? nowMs : atMs + checkMs;
      });
      return dueMs.length === 0 ? null : Math.min(...dueMs);
    },
  };
};

export type AnnouncedChanges = ReturnType<typeof openAnnounced>;
