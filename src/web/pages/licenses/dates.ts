import { DAY_MS } from '../../../shared/rules/dates.ts';
import { MAX_DURATION_DAYS } from '../../../shared/rules/licenses.ts';

export const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);

/** Reads a duration in days; null if it isn't one that the API accepts. */
export const readDays = (text: string): number | null => {
  const days = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0;
  return days >= 1 && days <= MAX_DURATION_DAYS ? days : null;
};
