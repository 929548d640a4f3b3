import { useInfiniteQuery } from '@tanstack/react-query';
import { historyQuery, type LicenseChange } from '../../data/queries.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { MoreRows } from '../../ui/more.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';
import { ACTION_LABELS, describeChanges } from './history-text.ts';

const DOTS: Record<LicenseChange['action'], string> = {
  created: 'bg-brass',
  changed: 'bg-line-strong',
  renewed: 'bg-good',
  key_rotated: 'bg-line-strong',
  reinstated: 'bg-good',
  suspended: 'bg-pause',
  revoked: 'bg-bad',
};

const Entry = ({ entry, isLast }: { entry: LicenseChange; isLast: boolean }) => (
  <li className="relative flex gap-3 pb-4 last:pb-0">
    {!isLast && <span aria-hidden className="absolute top-4 bottom-0 left-[3.5px] w-px bg-line" />}
    <span aria-hidden className={cx('mt-1.5 size-2 shrink-0 rounded-full', DOTS[entry.action])} />
    <div className="min-w-0 flex-1 text-sm">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="font-medium">{ACTION_LABELS[entry.action]}</span>
        <span className="text-muted">
          <Time at={entry.at} />
        </span>
      </div>
      {describeChanges(entry).map((line) => (
        <p key={line} className="break-line text-muted">
          {line}
        </p>
      ))}
    </div>
  </li>
);

export const LicenseHistory = ({ id }: { id: string }) => {
  const query = useInfiniteQuery(historyQuery(id));
  const entries = query.data?.pages.flatMap(({ data }) => data);
  return (
    <Card>
      <CardHeader title="History" />
      {query.isError && !entries ? (
        <LoadError error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <div className="border-t border-line px-5 py-4">
          {entries ? (
            <ol aria-label="History">
              {entries.map((entry, index) => (
                <Entry
                  key={`${entry.at} ${entry.action}`}
                  entry={entry}
                  isLast={index === entries.length - 1}
                />
              ))}
            </ol>
          ) : (
            <Skeleton className="h-5 w-3/5" />
          )}
        </div>
      )}
      <MoreRows query={query} />
    </Card>
  );
};
