import type { LicenseChange, SeatChangeBody } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import type { ActorNames } from './actor-names.ts';
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

/** What happened, and who did it. */
export const titleOf = ({ action, by, import_id }: LicenseChange, nameOf: ActorNames): string => {
  const actor = by && nameOf(by);
  return [
    ACTION_LABELS[action],
    ...(actor ? [`by ${actor}`] : []),
    ...(import_id === null ? [] : [actor ? 'with an import' : 'by an import']),
  ].join(' ');
};

/** What an import creates keeps the time at which it was created elsewhere. */
const describeImport = ({ at, imported_at }: LicenseChange): string[] =>
  imported_at === null || imported_at.slice(0, 10) === at.slice(0, 10)
    ? []
    : [`Imported on ${formatDate(imported_at.slice(0, 10))}`];

const toEntry = (change: LicenseChange, nameOf: ActorNames): HistoryEntry => ({
  key: `${change.at} ${change.action}`,
  at: change.at,
  action: change.action,
  title: titleOf(change, nameOf),
  lines: [...describeImport(change), ...describeChanges(change)],
});

const SEAT_TITLES: Record<SeatChangeBody['action'], string> = {
  taken: 'Seat taken',
  released: 'Seat released',
  refused: 'Machine refused',
};

export const REFUSAL_TEXTS: Record<NonNullable<SeatChangeBody['reason']>, string> = {
  no_seat: 'no seat was free',
  transfer_limit: 'too many machines in 30 days',
};

const BY = {
  application: 'by an application',
  seller: 'by you or with an API key',
  customer: 'by the customer',
} as const;

const toSeatEntry = (change: SeatChangeBody): HistoryEntry => {
  const { at, action, by, name, fingerprint, reason } = change;
  return {
    key: `${at} ${action} ${fingerprint}`,
    at,
    action,
    title: SEAT_TITLES[action],
    lines: [`${name ?? fingerprint}, ${reason ? REFUSAL_TEXTS[reason] : BY[by]}`],
  };
};

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
  nameOf: ActorNames,
): HistoryEntry[] => {
  const from = completeFrom(holdsBack(changes, seats) ? changes : seats);
  return [...changes.entries.map((change) => toEntry(change, nameOf)), ...seats.entries.map(toSeatEntry)]
    .filter(({ at }) => at >= from)
    .toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
};
