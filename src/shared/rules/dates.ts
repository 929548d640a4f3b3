export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const isoTime = (ms: number) => new Date(ms).toISOString();

export const isoTimeOrNull = (ms: number | null) => (ms === null ? null : isoTime(ms));

/** The last answer of `isoDate`, because each call asks for today. */
let lastDate = { day: Number.NaN, text: '' };

/** Returns the UTC date of a timestamp as YYYY-MM-DD. Dates in this form compare as strings. */
export const isoDate = (ms: number): string => {
  const day = Math.floor(ms / DAY_MS);
  if (day !== lastDate.day) lastDate = { day, text: isoTime(ms).slice(0, 10) };
  return lastDate.text;
};

/** Whether two timestamps are on the same day (UTC). */
export const isSameDay = (ms: number, otherMs: number) =>
  Math.floor(ms / DAY_MS) === Math.floor(otherMs / DAY_MS);

export const addDays = (date: string, days: number) =>
  isoDate(Date.parse(`${date}T00:00:00.000Z`) + days * DAY_MS);

export const laterDate = (a: string, b: string) => (a > b ? a : b);

/** Returns the same day and time `months` later, or the month's last day if that day doesn't exist. */
export const addMonths = (ms: number, months: number): number => {
  const from = new Date(ms);
  const year = from.getUTCFullYear();
  const month = from.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(from.getUTCDate(), lastDay);
  return Date.UTC(year, month, day) + (ms - Date.UTC(year, from.getUTCMonth(), from.getUTCDate()));
};
