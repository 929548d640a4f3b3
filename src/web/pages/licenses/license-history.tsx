import { useInfiniteQuery } from '@tanstack/react-query';
import { historyQuery, seatHistoryQuery } from '../../data/queries.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { MoreRows } from '../../ui/more.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';
import { useActorNames } from './actor-names.ts';
import { type HistoryEntry, holdsBack, mergeHistory } from './merge-history.ts';

const DOTS: Record<HistoryEntry['action'], string> = {
  created: 'bg-brass',
  changed: 'bg-line-strong',
  renewed: 'bg-good',
  key_rotated: 'bg-line-strong',
  reinstated: 'bg-good',
  suspended: 'bg-pause',
  revoked: 'bg-bad',
  taken: 'bg-good',
  released: 'bg-line-strong',
  refused: 'bg-warn',
};

const Entry = ({ entry, isLast }: { entry: HistoryEntry; isLast: boolean }) => (
  <li className="relative flex gap-3 pb-4 last:pb-0">
    {!isLast && <span aria-hidden className="absolute top-4 bottom-0 left-[3.5px] w-px bg-line" />}
    <span aria-hidden className={cx('mt-1.5 size-2 shrink-0 rounded-full', DOTS[entry.action])} />
    <div className="min-w-0 flex-1 text-sm">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="font-medium">{entry.title}</span>
        <span className="text-muted">
          <Time at={entry.at} />
        </span>
      </div>
      {entry.lines.map((line) => (
        <p key={line} className="break-line text-muted">
          {line}
        </p>
      ))}
    </div>
  </li>
);

interface HistoryPages<T> {
  data: { pages: { data: T[] }[] } | undefined;
  hasNextPage: boolean;
}

const toLoaded = <T extends { at: string }>({ data, hasNextPage }: HistoryPages<T>) => ({
  entries: data?.pages.flatMap((page) => page.data) ?? [],
  hasMore: hasNextPage,
});

/** The license's changes and those of its seats, as one list. */
export const LicenseHistory = ({ id }: { id: string }) => {
  const changes = useInfiniteQuery(historyQuery(id));
  const seats = useInfiniteQuery(seatHistoryQuery(id));
  const [loadedChanges, loadedSeats] = [toLoaded(changes), toLoaded(seats)];
  const nameOf = useActorNames(loadedChanges.entries);
  const failed = [changes, seats].find(({ isError, data }) => isError && !data);
  const entries = changes.data && seats.data && mergeHistory(loadedChanges, loadedSeats, nameOf);
  return (
    <Card className="xl:col-start-2 xl:row-span-3 xl:row-start-1">
      <CardHeader title="History" />
      {failed ? (
        <LoadError error={failed.error} onRetry={() => void failed.refetch()} />
      ) : (
        <div className="border-t border-line px-5 py-4">
          {entries ? (
            <ol aria-label="History">
              {entries.map((entry, index) => (
                <Entry key={entry.key} entry={entry} isLast={index === entries.length - 1} />
              ))}
            </ol>
          ) : (
            <Skeleton className="h-5 w-3/5" />
          )}
        </div>
      )}
      <MoreRows query={holdsBack(loadedChanges, loadedSeats) ? changes : seats} />
    </Card>
  );
};
