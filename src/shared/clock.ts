export const DAY_MS = 86_400_000;

export const isoTime = (ms: number) => new Date(ms).toISOString();

/** The UTC day of an instant, as YYYY-MM-DD; such days compare as strings. */
export const isoDate = (ms: number) => isoTime(ms).slice(0, 10);

export const addDays = (date: string, days: number) =>
  isoDate(Date.parse(`${date}T00:00:00.000Z`) + days * DAY_MS);

export const laterDate = (a: string, b: string) => (a > b ? a : b);
