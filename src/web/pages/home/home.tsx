import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { LICENSE_STATES, type LicenseStatus } from '../../../shared/rules/licenses.ts';
import { type Dashboard, dashboardQuery, progressQuery } from '../../data/queries.ts';
import { readPreference, writePreference } from '../../data/session.ts';
import { storesQuery } from '../../data/store-queries.ts';
import { formatCount, plural } from '../../lib/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { Figure } from '../../ui/figure.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { FirstSteps } from './first-steps.tsx';
import { RecentEvents } from './recent-events.tsx';
import { Storage } from './storage.tsx';
import { Usage } from './usage.tsx';

const LINK = 'text-sm font-medium underline decoration-line-strong underline-offset-4 hover:decoration-ink';

const Health = ({ webhooks }: { webhooks: Dashboard['webhooks'] }) => {
  if (webhooks.endpoints === 0) return null;
  const { delivered_24h: delivered, failed_24h: failed } = webhooks;
  if (failed === 0) return <StateBadge tone="good">{delivered === 0 ? 'Idle' : 'Healthy'}</StateBadge>;
  return (
    <StateBadge tone={failed > delivered ? 'bad' : 'warn'}>
      {failed > delivered ? 'Failing' : 'Some fail'}
    </StateBadge>
  );
};

const DeliveryHealth = ({ webhooks }: { webhooks: Dashboard['webhooks'] | undefined }) => (
  <Card className="p-5">
    <h2 className="flex h-6 items-center justify-between text-sm font-medium">
      Webhooks, last 24 hours
      {webhooks && <Health webhooks={webhooks} />}
    </h2>
    <dl className="mt-2 grid grid-cols-2 gap-4">
      <Figure name="Delivered" value={webhooks?.delivered_24h} />
      <Figure name="Failed attempts" value={webhooks?.failed_24h} isBad={(webhooks?.failed_24h ?? 0) > 0} />
    </dl>
    <p className="mt-3 h-5">
      {webhooks &&
        (webhooks.endpoints === 0 ? (
          <Link to="/webhooks" search={{ create: true }} className={LINK}>
            Add a webhook
          </Link>
        ) : (
          <Link to="/webhooks" className={LINK}>
            {plural(webhooks.endpoints, 'webhook')}
          </Link>
        ))}
    </p>
  </Card>
);

const FILLS: Record<LicenseStatus, string> = {
  active: 'bg-good',
  expired: 'bg-line-strong',
  suspended: 'bg-pause',
  revoked: 'bg-bad',
};

/** The number of licenses in each state, with links to their lists, and the storage that the account uses. */
const LicenseCounts = ({
  counts,
  storage,
}: {
  counts: Dashboard['licenses'] | undefined;
  storage: Dashboard['storage'] | undefined;
}) => (
  <Card className="p-5">
    <h2 className="flex items-baseline justify-between text-sm font-medium">
      Licenses
      {counts && <span className="nums text-lg font-semibold">{formatCount(counts.total)}</span>}
    </h2>
    <div aria-hidden className="mt-2.5 mb-2 flex h-1.5 gap-0.5 overflow-hidden rounded-full bg-line">
      {counts &&
        LICENSE_STATES.filter((state) => counts[state] > 0).map((state) => (
          <span key={state} className={FILLS[state]} style={{ flexGrow: counts[state] }} />
        ))}
    </div>
    <ul className="-mx-2">
      {LICENSE_STATES.map((state) => (
        <li key={state}>
          <Link
            to="/licenses"
            search={{ status: state }}
            className="flex h-8 items-center gap-2 rounded-md px-2 text-sm transition-colors hover:bg-hover"
          >
            <span aria-hidden className={cx('size-2 rounded-full', FILLS[state])} />
            <span className="flex-1 capitalize">{state}</span>
            {counts ? (
              <span className="nums">{formatCount(counts[state])}</span>
            ) : (
              <Skeleton className="h-3.5 w-8" />
            )}
          </Link>
        </li>
      ))}
    </ul>
    <Storage storage={storage} />
  </Card>
);

type Usage = NonNullable<Dashboard['usage_by_product']>;

/** The calls of this period by product, with bars in proportion to the product with the most calls. */
const ProductUsage = ({ usage }: { usage: Usage }) => {
  const most = Math.max(1, ...usage.map(({ calls }) => calls));
  return (
    <Card aria-label="Usage by product">
      <CardHeader title="Usage by product" hint="Verify and activate calls in this period" />
      <ul className="border-t border-line px-3 py-2">
        {usage.map(({ product, name, calls }) => (
          <li key={product}>
            <Link
              to="/products/$code"
              params={{ code: product }}
              className="grid h-9 grid-cols-[minmax(0,1fr)_minmax(0,1fr)_4.5rem] items-center gap-3 rounded-md px-2 text-sm transition-colors hover:bg-hover"
            >
              <span className="truncate">{name ?? product}</span>
              <span aria-hidden className="h-1.5 overflow-hidden rounded-full bg-line">
                <span
                  className="block h-full rounded-full bg-brass-line"
                  style={{ width: `${(calls / most) * 100}%` }}
                />
              </span>
              <span className="nums text-right">{formatCount(calls)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
};

const REFRESH_MS = 15_000;
/** Refresh interval until the first steps are done, which may happen in a terminal. */
const WATCH_MS = 2_500;

/** The preference that stores whether the first steps are shown, hidden or done. */
const FIRST_STEPS = 'first-steps';

const HINT = 'Usage, licenses, and events at a glance.';

const useFirstSteps = () => {
  const [preference, setPreference] = useState(() => readPreference(FIRST_STEPS));
  const { data: steps, isError } = useQuery({
    ...progressQuery,
    refetchInterval: ({ state: { data } }) => (data && data.completed === data.total ? false : WATCH_MS),
  });
  const isDone = steps ? steps.completed === steps.total : preference === 'done';
  const stores = useQuery({ ...storesQuery, enabled: !isDone });
  useEffect(() => {
    if (steps && isDone) writePreference(FIRST_STEPS, 'done');
  }, [steps, isDone]);
  const hide = (isHidden: boolean) => {
    const text = isHidden ? 'hidden' : 'shown';
    writePreference(FIRST_STEPS, text);
    setPreference(text);
  };
  return {
    steps,
    isDone,
    isKnown: isDone || isError || (steps !== undefined && !stores.isLoading),
    lacksStore: stores.data?.data.length === 0,
    isHidden: preference === 'hidden',
    hide,
  };
};

export const Home = () => {
  const { steps, isDone, isKnown, lacksStore, isHidden, hide } = useFirstSteps();
  const dashboard = useQuery({ ...dashboardQuery, refetchInterval: isDone ? REFRESH_MS : WATCH_MS });
  const { data } = dashboard;

  // The first steps are at the top, so showing them after the rest would shift the page.
  if (!isKnown) {
    return (
      <Page title="Home" hint={HINT}>
        <Skeleton className="h-96 rounded-xl" />
      </Page>
    );
  }
  return (
    <Page title="Home" hint={HINT}>
      {steps && !isDone && (
        <FirstSteps progress={steps} lacksStore={lacksStore} isHidden={isHidden} onHide={hide} />
      )}
      {dashboard.isError && !data ? (
        <Card>
          <LoadError error={dashboard.error} onRetry={() => void dashboard.refetch()} />
        </Card>
      ) : (
        <>
          <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_20rem]">
            <Usage usage={data?.usage} days={data?.usage_by_day} />
            <div className="grid gap-5 md:grid-cols-2 xl:grid-cols-1">
              <LicenseCounts counts={data?.licenses} storage={data?.storage} />
              <DeliveryHealth webhooks={data?.webhooks} />
            </div>
          </div>
          {data?.usage_by_product && <ProductUsage usage={data.usage_by_product} />}
          <RecentEvents events={data?.recent_events} hasEndpoint={(data?.webhooks.endpoints ?? 0) > 0} />
        </>
      )}
    </Page>
  );
};
