import { HOUR_MS } from '../../shared/rules/dates.ts';

const SECOND_MS = 1_000;

/** Delay before the alarm checks D1 for an announced change whose request died after its commit … */
const FIRST_CHECK_MS = 3 * SECOND_MS;
/** … and before the last check, for a slow commit: D1 gives up on a query long before. */
export const LAST_CHECK_MS = 90 * SECOND_MS;

/** An alarm is set once for the events of this long, because setting it for each lone event would double its cost. */
const EVENT_ALARM_MS = 10 * SECOND_MS;

/** A reload runs beside a copy that answers verifies, so it can take its time. */
const RELOAD_PAGE_MS = SECOND_MS;
/** Reloads of many gates, as after a deploy, are spread over this long. */
const RELOAD_SPREAD_MS = HOUR_MS / 6;

const MAX_BACKOFF_MS = 5 * 60 * SECOND_MS;

/** Exponential backoff with jitter: the delay after so many failures in a row. `random` is between 0 and 1. */
export const backoffMs = (failures: number, random: number): number =>
  failures === 0 ? 0 : Math.min(MAX_BACKOFF_MS, SECOND_MS * 2 ** failures) * (0.5 + random / 2);

/** When to load the next page. `isReload` means that the current copy is complete and answers meanwhile. */
export const nextPageMs = (isReload: boolean, isFirst: boolean, nowMs: number, random: number): number => {
  // setAlarm with the current time would be ignored inside an alarm.
  if (!isReload) return nowMs + 1;
  return nowMs + (isFirst ? random * RELOAD_SPREAD_MS : RELOAD_PAGE_MS);
};

export interface GateWork {
  /** When the changes were announced whose outcome is not known yet. */
  announcedAtMs: number[];
  hasEvents: boolean;
  /** When the next page of a load is due, or null if there is nothing to load. */
  loadDueMs: number | null;
  /** After a failure, nothing is tried before. */
  notBeforeMs: number;
}

/** Returns when the gate's alarm has work to do, or null. */
export const nextAlarmMs = (work: GateWork, nowMs: number): number | null => {
  const { announcedAtMs, hasEvents, loadDueMs, notBeforeMs } = work;
  const dueMs = announcedAtMs.map((atMs) => {
    const checks = [atMs + FIRST_CHECK_MS, atMs + LAST_CHECK_MS];
    return checks.find((checkMs) => checkMs > nowMs) ?? nowMs + 1;
  });
  if (hasEvents) dueMs.push(nowMs + EVENT_ALARM_MS);
  if (loadDueMs !== null) dueMs.push(Math.max(nowMs + 1, loadDueMs));
  return dueMs.length === 0 ? null : Math.max(notBeforeMs, Math.min(...dueMs));
};
