import type { LicenseChange, SeatChangeBody } from '../../data/queries.ts';
import { ACTION_LABELS, describeChanges } from './history-text.ts';

export interface HistoryEntry {
  key: string;
  at: string;
  action: LicenseChange['action'] | SeatChangeBody['action'];
  title: string;
  lines: string[];
}

interface Loaded<T> {
  /** Newest first. */
  entries: T[];
  hasMore: boolean;
}

const toEntry = (change: LicenseChange): HistoryEntry => ({
  key: `${change.at} ${change.action}`,
  at: change.at,
  action: change.action,
  title: ACTION_LABELS[change.action] + (change.import_id === null ? '' : ' by an import'),
  lines: describeChanges(change),
});

const BY = { application: 'by an application', seller: 'by you' } as const;

const toSeatEntry = ({ at, action, by, activation_id, name, fingerprint }: SeatChangeBody): HistoryEntry => ({
  key: `${at} ${action} ${activation_id}`,
  at,
  action,
  title: action === 'taken' ? 'Seat taken' : 'Seat released',
  lines: [`${name ?? fingerprint}, ${BY[by]}`],
});

type Loading = Loaded<{ at: string }>;

/** The time from which everything is loaded. */
const completeFrom = ({ entries, hasMore }: Loading): string => (hasMore ? (entries.at(-1)?.at ?? '') : '');

/** Whether the next page of the one list shows more of the merged list than the next page of the other. */
export const holdsBack = (list: Loading, other: Loading): boolean =>
  list.hasMore && completeFrom(list) >= completeFrom(other);

/** Merges what is loaded of a license's changes and of its seats' changes, as far as both are complete. */
export const mergeHistory = (
  changes: Loaded<LicenseChange>,
  seats: Loaded<SeatChangeBody>,
): HistoryEntry[] => {
  const from = completeFrom(holdsBack(changes, seats) ? changes : seats);
  return [...changes.entries.map(toEntry), ...seats.entries.map(toSeatEntry)]
    .filter(({ at }) => at >= from)
    .toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
};
