import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { FileUp, Plus, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { LICENSE_STATES, type LicenseStatus } from '../../../shared/rules/licenses.ts';
import { type LicenseFilter, dashboardQuery, licensesQuery } from '../../data/queries.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { MoreRows } from '../../ui/more.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Segments } from '../../ui/tabs.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { CreateLicense } from './create-license.tsx';
import { LicenseHead, LicenseRow, LicenseRowSkeletons } from './license-row.tsx';
import { NoLicenses } from './no-licenses.tsx';
import { SearchField } from './search-field.tsx';
import { useSelection } from './use-selection.ts';

const PAUSE_MS = 200;

/** Returns the search parameters of a filter. */
const searchOf = ({ q, status, product }: LicenseFilter) => ({
  ...(q && { q }),
  ...(status && { status }),
  ...(product && { product }),
});

/** Keeps the typed text, and commits it when the typing pauses. */
const useDraft = (value: string, commit: (text: string) => Promise<void>) => {
  const [draft, setDraft] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const type = (text: string, pauseMs = PAUSE_MS) => {
    const send = async () => {
      await commit(text);
      setDraft((now) => (now === text ? null : now));
    };
    setDraft(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void send(), pauseMs);
  };
  return { text: draft ?? value, type, clear: () => type('', 0) };
};

const route = getRouteApi('/shell/licenses');

const label = (state: string) => state.charAt(0).toUpperCase() + state.slice(1);

const StateFilter = ({
  status,
  onChoose,
}: {
  status: LicenseStatus | undefined;
  onChoose: (status: LicenseStatus | undefined) => void;
}) => {
  const { data, isPending } = useQuery(dashboardQuery);
  const loading = isPending ? ('loading' as const) : undefined;
  const count = (of: LicenseStatus | 'total') => data?.licenses[of] ?? loading;
  return (
    <Segments<LicenseStatus | 'all'>
      label="State"
      value={status ?? 'all'}
      choices={[
        { value: 'all', label: 'All', count: count('total') },
        ...LICENSE_STATES.map((state) => ({ value: state, label: label(state), count: count(state) })),
      ]}
      onChoose={(choice) => onChoose(choice === 'all' ? undefined : choice)}
    />
  );
};

export const Licenses = () => {
  const { q = '', status, product, create = false } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery({
    ...licensesQuery({ q: q.trim(), status, product }),
    placeholderData: keepPreviousData,
  });
  const isStale = query.isPlaceholderData;
  const licenses = query.data?.pages.flatMap(({ data }) => data);

  const selection = useSelection(
    isStale ? [] : (licenses ?? []),
    `${status ?? ''} ${product ?? ''} ${q.trim()}`,
  );

  const search = useDraft(q, (text) =>
    navigate({
      search: (before) => searchOf({ ...before, q: text }),
      replace: true,
      resetScroll: false,
    }),
  );
  const chooseState = (state: LicenseStatus | undefined) =>
    void navigate({ search: (before) => searchOf({ ...before, status: state }), resetScroll: false });
  const showCreate = (isOpen: boolean) =>
    void navigate({
      search: (before) => ({ ...searchOf(before), ...(isOpen && { create: true }) }),
      replace: true,
      resetScroll: false,
    });
  const showAllProducts = () =>
    void navigate({ search: (before) => searchOf({ ...before, product: undefined }), resetScroll: false });
  const showAll = () => {
    search.clear();
    void navigate({ search: {}, resetScroll: false });
  };
  const createButton = (
    <Button variant="solid" onClick={() => showCreate(true)}>
      <Plus aria-hidden />
      Create license
    </Button>
  );

  return (
    <Page
      title="Licenses"
      hint="Who can use your software, and until when."
      actions={
        <>
          <ButtonLink to="/licenses/import">
            <FileUp aria-hidden />
            Import
          </ButtonLink>
          {createButton}
        </>
      }
    >
      <div className="flex flex-wrap items-center gap-3">
        <SearchField text={search.text} isBusy={isStale} onType={search.type} onClear={search.clear} />
        <StateFilter status={status} onChoose={chooseState} />
        {product && (
          <Button size="sm" aria-label={`Show all products, not only ${product}`} onClick={showAllProducts}>
            {product}
            <X aria-hidden />
          </Button>
        )}
      </div>
      <Card>
        {query.isError && !licenses ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : licenses?.length === 0 && !isStale ? (
          <NoLicenses
            q={q.trim()}
            status={status}
            product={product}
            createButton={createButton}
            onClear={search.clear}
            onShowAll={showAll}
          />
        ) : (
          <div
            aria-busy={isStale}
            className={cx('transition-opacity', isStale && licenses?.length !== 0 && 'opacity-60 delay-150')}
          >
            <Table
              label="Licenses"
              head={<LicenseHead count={licenses?.length ?? 0} selection={selection} />}
            >
              {licenses && licenses.length > 0 ? (
                licenses.map((license) => (
                  <LicenseRow key={license.id} license={license} selection={selection} />
                ))
              ) : (
                <LicenseRowSkeletons />
              )}
            </Table>
            <MoreRows query={query} />
          </div>
        )}
      </Card>
      <BulkBar licenses={selection.selected} onClear={() => selection.chooseAll(false)} />
      <CreateLicense isRequested={create} onLeave={() => showCreate(false)} />
    </Page>
  );
};
