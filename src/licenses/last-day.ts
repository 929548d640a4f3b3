import { invalidField } from '../shared/app-error.ts';
import { isoDate } from '../shared/rules/dates.ts';

/**
 * Refuses a last day that has passed. The change itself checks it, not the schema of its body: a repeat with an
 * Idempotency-Key may come after that day, and then changes nothing.
 */
export const requireTodayOrLater = (lastDay: string | null | undefined, nowMs: number): void => {
  if (lastDay && lastDay < isoDate(nowMs)) throw invalidField('expires_at', 'must be today or later');
};
