import { useQuery } from '@tanstack/react-query';
import { metricsQuery } from '../../data/operator.ts';
import { formatBytes, formatCount, plural } from '../../lib/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

type Samples = { name: string; value: number }[];

interface Watch {
  title: string;
  read: (samples: Samples) => number;
  format: (value: number) => string;
  /** From where on the figure wants somebody's attention. */
  badFrom: number;
  meaning: string;
  todo: string;
}

const valuesOf = (samples: Samples, name: string) =>
  samples.filter((sample) => sample.name === name).map(({ value }) => value);
const sumOf = (name: string) => (samples: Samples) =>
  valuesOf(samples, name).reduce((sum, value) => sum + value, 0);
const largestOf = (name: string) => (samples: Samples) => Math.max(0, ...valuesOf(samples, name));

const ageText = (seconds: number) =>
  seconds === 0
    ? 'None'
    : seconds < 7_200
      ? plural(Math.ceil(seconds / 60), 'minute')
      : plural(Math.floor(seconds / 3_600), 'hour');

const GB = 1_000_000_000;

/** What is watched, in the order in which it hurts. */
const WATCHES: Watch[] = [
  {
    title: 'Databases that don’t answer',
    read: (samples) => valuesOf(samples, 'd1_up').filter((value) => value === 0).length,
    format: formatCount,
    badFrom: 1,
    meaning: 'Licenses that exist are still verified. Nothing can be created or changed.',
    todo: 'Open /health, which names the database, and Cloudflare’s status page.',
  },
  {
    title: 'Largest database',
    read: largestOf('d1_size_bytes'),
    format: formatBytes,
    badFrom: 8 * GB,
    meaning: 'A D1 database is full at 10 GB. Then writes of all of its accounts fail.',
    todo: 'Add a database for new accounts: see the guide on running the service.',
  },
  {
    title: 'Oldest erasure overdue',
    read: largestOf('erasure_overdue_seconds'),
    format: ageText,
    badFrom: 7_200,
    meaning: 'Somebody has asked to be erased, and hasn’t been yet. The hourly work continues it.',
    todo: 'Over two hours: look in the log for erasure_not_finished and payment_not_refunded, which name the account and the error.',
  },
  {
    title: 'Last backup',
    read: largestOf('backup_age_seconds'),
    format: ageText,
    badFrom: 172_800,
    meaning:
      'What a loss of the database would cost. None: this service makes no backups, or hasn’t made one yet.',
    todo: 'Over two days: look in the log for backup_not_verified and scheduled_work_failed.',
  },
  {
    title: 'Webhook deliveries waiting',
    read: sumOf('outbox_deliveries_waiting'),
    format: formatCount,
    badFrom: 10_000,
    meaning: 'They wait for a retry, or over a minute for their first attempt. None is lost.',
    todo: 'If it grows while few webhooks fail, the queue is late: look at its backlog in Cloudflare.',
  },
  {
    title: 'Webhooks failing',
    read: sumOf('endpoints_failing'),
    format: formatCount,
    badFrom: Infinity,
    meaning: 'Their receivers refuse or don’t answer. Their owners get an email after five days.',
    todo: 'Nothing, unless many of them fail at once.',
  },
  {
    title: 'Gates loading',
    read: sumOf('gates_loading'),
    format: formatCount,
    badFrom: 100,
    meaning:
      'Accounts whose gate is loading its copy, after a release for instance. They still answer, more slowly.',
    todo: 'Wait. If it lasts an hour, D1 can’t be read.',
  },
  {
    title: 'Kept beyond the database',
    read: sumOf('gate_orphans'),
    format: formatCount,
    badFrom: 1,
    meaning: 'Licenses, keys, and products that a restored database lacks. They work for 14 days.',
    todo: 'List them with latchkey operator orphans, and create them again or give them up.',
  },
];

const WatchRow = ({ watch, samples }: { watch: Watch; samples: Samples }) => {
  const value = watch.read(samples);
  const isBad = value >= watch.badFrom;
  return (
    <li className="grid gap-x-6 gap-y-1 px-5 py-3 md:grid-cols-[16rem_minmax(0,1fr)]">
      <div>
        <p className="text-sm text-muted">{watch.title}</p>
        <p className="flex flex-wrap items-center gap-2">
          <span className="nums text-lg font-semibold">{watch.format(value)}</span>
          {isBad && <StateBadge tone="bad">Needs attention</StateBadge>}
        </p>
      </div>
      <div className="text-sm">
        <p>{watch.meaning}</p>
        <p className="text-muted">{watch.todo}</p>
      </div>
    </li>
  );
};

/** The service's backlog, each figure with what it means and what to do. */
export const Watched = ({ token }: { token: string }) => {
  const { data, error, refetch } = useQuery(metricsQuery(token));
  return (
    <Card aria-label="Service">
      <CardHeader title="Service" hint="As of now. The page refreshes it every minute." />
      {data ? (
        <ul className="divide-y divide-line border-t border-line">
          {WATCHES.map((watch) => (
            <WatchRow key={watch.title} watch={watch} samples={data} />
          ))}
        </ul>
      ) : error ? (
        <LoadError error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton className="mx-5 mb-5 h-64" />
      )}
    </Card>
  );
};
