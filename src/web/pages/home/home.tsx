import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { dashboardQuery, progressQuery } from '../../data/queries.ts';
import { readPreference, writePreference } from '../../data/session.ts';
import { Card } from '../../ui/card.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { DeliveryHealth } from './delivery-health.tsx';
import { FirstSteps } from './first-steps.tsx';
import { LicenseCounts } from './license-counts.tsx';
import { ProductUsage } from './product-usage.tsx';
import { RecentEvents } from './recent-events.tsx';
import { Usage } from './usage.tsx';

const REFRESH_MS = 15_000;
/** Refresh interval until the first steps are done, which may happen in a terminal. */
const WATCH_MS = 2_500;

/** The preference that stores whether the first steps are shown, hidden or done. */
const FIRST_STEPS = 'first-steps';

const HINT = 'Usage, licenses and events at a glance.';

const useFirstSteps = () => {
  const [preference, setPreference] = useState(() => readPreference(FIRST_STEPS));
  const { data: steps, isError } = useQuery({
    ...progressQuery,
    refetchInterval: ({ state: { data } }) => (data && data.completed === data.total ? false : WATCH_MS),
  });
  const isDone = steps ? steps.completed === steps.total : preference === 'done';
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
    isKnown: isDone || isError || steps !== undefined,
    isHidden: preference === 'hidden',
    hide,
  };
};

export const Home = () => {
  const { steps, isDone, isKnown, isHidden, hide } = useFirstSteps();
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
      {steps && !isDone && <FirstSteps progress={steps} isHidden={isHidden} onHide={hide} />}
      {dashboard.isError && !data ? (
        <Card>
          <LoadError error={dashboard.error} onRetry={() => void dashboard.refetch()} />
        </Card>
      ) : (
        <>
          <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_20rem]">
            <Usage usage={data?.usage} days={data?.usage_by_day} />
            <div className="grid gap-5 md:grid-cols-2 xl:grid-cols-1">
              <LicenseCounts counts={data?.licenses} />
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
