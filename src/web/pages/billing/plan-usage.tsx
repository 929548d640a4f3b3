import { useQuery } from '@tanstack/react-query';
import { dashboardQuery } from '../../data/queries.ts';
import { formatCount, formatDate } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

export const PlanUsage = () => {
  const { data, isError, refetch } = useQuery(dashboardQuery);
  if (!data) {
    return isError ? (
      <p role="alert" className="flex h-8 items-center gap-3 text-sm text-muted">
        Couldn’t load usage.
        <Button size="sm" onClick={() => void refetch()}>
          Try again
        </Button>
      </p>
    ) : (
      <div className="grid h-8 content-between">
        <Skeleton className="h-4 w-60" />
        <Skeleton className="h-1.5" />
      </div>
    );
  }
  const { api_usage: used, api_limit: limit, period_start, period_end } = data.usage;
  return (
    <div className="grid gap-1.5">
      <p className="nums flex flex-wrap justify-between gap-x-4 text-sm">
        <span>
          <span className="font-medium">{formatCount(used)}</span>{' '}
          <span className="text-muted">of {formatCount(limit)} API calls used</span>
        </span>
        <span className="text-muted">
          {formatDate(period_start)} to {formatDate(period_end)}
        </span>
      </p>
      <Meter label="API calls used" used={used} limit={limit} />
      {used >= limit && (
        <p className="text-sm text-bad">
          You’ve reached your limit. API calls are rejected until the period ends or you upgrade.
        </p>
      )}
    </div>
  );
};
