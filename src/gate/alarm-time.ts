/** Delay before the alarm first checks for an announced change whose request died after its commit. */
const FIRST_CHECK_MS = 3_000;
/** Delay before the last check, for a slow commit. A D1 query times out long before. */
const LAST_CHECK_MS = 90_000;

export const RETRY_MS = 3_000;

interface GateWork {
  announcedAtMs: number;
  hasEvents: boolean;
  isCopyComplete: boolean;
}

/** Returns when the gate must next pull from D1 or forward events, or undefined if nothing is pending. */
export const nextAlarmMs = (
  { announcedAtMs, hasEvents, isCopyComplete }: GateWork,
  nowMs: number,
): number | undefined => {
  // setAlarm with the current time would be ignored inside an alarm.
  if (!isCopyComplete) return nowMs + 1;
  if (hasEvents) return nowMs + RETRY_MS;
  return [announcedAtMs + FIRST_CHECK_MS, announcedAtMs + LAST_CHECK_MS].find((checkMs) => checkMs > nowMs);
};
