import { useQuery } from '@tanstack/react-query';
import { dashboardQuery, progressQuery } from '../../data/queries.ts';
import { Card } from '../../ui/card.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { DeliveryHealth } from './delivery-health.tsx';
import { FirstSteps } from './first-steps.tsx';
import { LicenseCounts } from './license-counts.tsx';
import { RecentEvents } from './recent-events.tsx';
import { Usage } from './usage.tsx';

const REFRESH_MS = 15_000;
/** While the first steps are taken, perhaps in a terminal beside this page. */
const WATCH_MS = 2_500;

export const Home = () => {
  const progress = useQuery({
    ...progressQuery,
    refetchInterval: ({ state: { data } }) => (data && data.completed === data.total ? false : WATCH_MS),
  });
  const steps = progress.data;
  const isNew = steps !== undefined && steps.completed < steps.total;
  const dashboard = useQuery({ ...dashboardQuery, refetchInterval: isNew ? WATCH_MS : REFRESH_MS });
  const { data } = dashboard;

  return (
    <Page title="Home" hint="What your licenses are doing.">
      {isNew && <FirstSteps progress={steps} />}
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
          <RecentEvents events={data?.recent_events} hasEndpoint={(data?.webhooks.endpoints ?? 0) > 0} />
        </>
      )}
    </Page>
  );
};
