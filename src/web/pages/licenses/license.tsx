import { useQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ApiError } from '../../data/error.ts';
import { type LicenseBody, LICENSE_LISTS, licenseQuery } from '../../data/queries.ts';
import { LicenseBadge } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyIcon } from '../../ui/copy.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Page, UpLink } from '../../ui/page.tsx';
import { DeveloperTools } from './developer-tools.tsx';
import { LicenseActions } from './license-actions.tsx';
import { LicenseEnding } from './license-ending.tsx';
import { LicenseFacts } from './license-facts.tsx';
import { LicenseHistory } from './license-history.tsx';
import { LicenseSkeleton } from './license-skeleton.tsx';
import { LicenseTerms } from './license-terms.tsx';
import { Seats } from './seats.tsx';

const route = getRouteApi('/shell/licenses/$id');

const ABOVE = <UpLink to="/licenses" name="Licenses" />;

/** Finds the license in a cached list, so that opening a row shows it immediately. */
const useListed = (id: string) => {
  const queryClient = useQueryClient();
  return () =>
    queryClient
      .getQueriesData<InfiniteData<{ data: LicenseBody[] }>>({ queryKey: LICENSE_LISTS })
      .flatMap(([, list]) => list?.pages ?? [])
      .flatMap(({ data }) => data)
      .find((license) => license.id === id);
};

const NoLicense = () => (
  <Page title="License not found" hint="No license in this account has this ID." above={ABOVE}>
    <div>
      <ButtonLink to="/licenses" variant="solid">
        See all licenses
      </ButtonLink>
    </div>
  </Page>
);

const Shown = ({ license }: { license: LicenseBody }) => (
  <Page
    title={license.license_key}
    heading={<code className="block text-base leading-6 break-all sm:text-lg">{license.license_key}</code>}
    beside={
      <>
        <span className="-mx-2">
          <CopyIcon text={license.license_key} what="license key" />
        </span>
        <LicenseBadge status={license.status} />
      </>
    }
    above={ABOVE}
    actions={<LicenseActions license={license} />}
  >
    <LicenseEnding license={license} />
    {/* What support looks for comes first. In two columns, the history has the right one to itself. */}
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-[minmax(0,1fr)_26rem] xl:grid-rows-[auto_auto_1fr]">
      <LicenseFacts license={license} />
      <Seats licenseId={license.id} />
      <LicenseHistory id={license.id} />
      <LicenseTerms license={license} />
      <DeveloperTools license={license} />
    </div>
  </Page>
);

export const LicensePage = () => {
  const { id } = route.useParams();
  const placeholderData = useListed(id);
  const { data, error, refetch } = useQuery({ ...licenseQuery(id), placeholderData });
  // A license that was deleted may still be cached.
  if (error instanceof ApiError && error.code === 'license_not_found') return <NoLicense />;
  if (data) return <Shown key={id} license={data} />;
  return error ? (
    <Page title="License" above={ABOVE}>
      <Card>
        <LoadError error={error} onRetry={() => void refetch()} />
      </Card>
    </Page>
  ) : (
    <LicenseSkeleton above={ABOVE} />
  );
};
