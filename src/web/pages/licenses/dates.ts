const DAY_MS = 86_400_000;

/** The UTC day, YYYY-MM-DD: licenses end by it, and such days compare as strings. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const addDays = (day: string, days: number): string => dayOf(Date.parse(day) + days * DAY_MS);

export const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);

export const MAX_DAYS = 36_500;
/** Digits alone, and no more days than the service takes. */
export const readDays = (text: string): number | null => {
  const days = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0;
  return days >= 1 && days <= MAX_DAYS ? days : null;
};
