import { lazy, Suspense, useState } from 'react';
import type { Dashboard } from '../../data/queries.ts';
import { formatCount, formatDate, formatDay } from '../../lib/format.ts';
import { Card } from '../../ui/card.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table, Td, Th } from '../../ui/table.tsx';
import { Segments } from '../../ui/tabs.tsx';

const UsageChart = lazy(() => import('./usage-chart.tsx'));

type Days = Dashboard['usage_by_day'];

const Figures = ({ usage }: { usage: Dashboard['usage'] }) => {
  const { api_usage: used, api_limit: limit } = usage;
  return (
    <>
      <p className="mb-3 flex flex-wrap items-baseline gap-x-2">
        <span className="nums text-2xl font-semibold tracking-tight">{formatCount(used)}</span>
        <span className="nums text-muted">of {formatCount(limit)} API calls</span>
        <span className="text-sm text-muted sm:ml-auto">Resets on {formatDate(usage.period_end)}</span>
      </p>
      <Meter label="API calls used" used={used} limit={limit} />
      {used >= limit && (
        <p className="mt-2 text-sm text-bad">
          You have reached the limit. Until it resets, only existing customers’ machines are answered, up to
          125% of it.
        </p>
      )}
    </>
  );
};

const DaysTable = ({ days }: { days: Days }) => (
  <div className="max-h-61 overflow-y-auto rounded-lg border border-line">
    <Table
      label="API calls by day"
      head={
        <>
          <Th>Day</Th>
          <Th className="text-right">Verify</Th>
          <Th className="text-right">Create</Th>
        </>
      }
    >
      {days.toReversed().map(({ date, verify, create }) => (
        <tr key={date}>
          <Td className="h-8 py-1">{formatDay(date)}</Td>
          <Td className="nums h-8 py-1 text-right">{formatCount(verify)}</Td>
          <Td className="nums h-8 py-1 text-right">{formatCount(create)}</Td>
        </tr>
      ))}
    </Table>
  </div>
);

const BLANK = <Skeleton className="h-61" />;

const VIEWS = [
  { value: 'chart', label: 'Chart' },
  { value: 'table', label: 'Table' },
] as const;

/** The usage of this period, and the calls of the last 30 days. */
export const Usage = ({ usage, days }: { usage: Dashboard['usage'] | undefined; days: Days | undefined }) => {
  const [view, setView] = useState<'chart' | 'table'>('chart');
  return (
    <Card className="p-5">
      <h2 className="sr-only">Usage</h2>
      <div className="min-h-17">{usage ? <Figures usage={usage} /> : <Skeleton className="h-12 w-64" />}</div>
      <div className="mt-4 mb-3 flex items-center justify-between gap-4">
        <h3 className="text-sm font-medium">Last 30 days</h3>
        <Segments label="Show as" value={view} choices={[...VIEWS]} onChoose={setView} />
      </div>
      {days ? (
        view === 'chart' ? (
          <Suspense fallback={BLANK}>
            <UsageChart days={days} />
          </Suspense>
        ) : (
          <DaysTable days={days} />
        )
      ) : (
        BLANK
      )}
    </Card>
  );
};
