import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { FileUp, MonitorSmartphone, Plus } from 'lucide-react';
import type { LicenseFilter } from '../../data/license-filter.ts';
import { licensesQuery } from '../../data/license-list.ts';
import { allProductsQuery, dashboardQuery, type LicenseBody } from '../../data/queries.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { MoreRows } from '../../ui/more.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Table } from '../../ui/table.tsx';
import { useTypedText } from '../../ui/use-typed-text.ts';
import { BulkBar } from './bulk-bar.tsx';
import { CreateLicense } from './create-license.tsx';
import { ExportCsv } from './export-csv.tsx';
import { Filters, FilterTag, StateFilter } from './filters.tsx';
import { LicenseHead, LicenseRow, LicenseRowSkeletons } from './license-row.tsx';
import { NoLicenses } from './no-licenses.tsx';
import { SelectAll } from './select-all.tsx';
import { useSelection } from './use-selection.ts';

const route = getRouteApi('/shell/licenses');

/** Whether the filter is no more than what the account's licenses are counted by. */
const isCounted = ({ q, product, customer, expiry, seats, machine }: LicenseFilter) =>
  !(q?.trim() || product || customer || expiry || seats || machine);

export const Licenses = () => {
  const { create = false, ...filter } = route.useSearch();
  const { status } = filter;
  const navigate = route.useNavigate();
  const query = useInfiniteQuery({ ...licensesQuery(filter), placeholderData: keepPreviousData });
  const { data: products } = useQuery(allProductsQuery);
  const { data: dashboard } = useQuery(dashboardQuery);
  const isStale = query.isPlaceholderData;
  const licenses = query.data?.pages.flatMap(({ data }) => data);
  const list = JSON.stringify(filter);
  const selection = useSelection(isStale ? [] : (licenses ?? []), list);

  const change = (changed: LicenseFilter & { create?: true }, replace = false) =>
    navigate({
      search: ({ create: _create, ...before }) => ({ ...before, ...changed }),
      replace,
      resetScroll: false,
    });
  const search = useTypedText(filter.q ?? '', (text) => change({ q: text || undefined }, true));
  const showCreate = (isOpen: boolean) => void change(isOpen ? { create: true } : {}, true);
  const showAll = () => {
    search.clear();
    void navigate({ search: {}, resetScroll: false });
  };
  const q = filter.q?.trim();
  const findMachine = q && (
    <Button
      size="sm"
      className="max-w-full"
      onClick={() => {
        search.clear();
        void change({ q: undefined, machine: q, seats: undefined });
      }}
    >
      <MonitorSmartphone aria-hidden />
      <span className="min-w-0 truncate">Find machine “{q}”</span>
    </Button>
  );
  const createButton = (
    <Button variant="solid" onClick={() => showCreate(true)}>
      <Plus aria-hidden />
      Create license
    </Button>
  );
  const hasMore = query.hasNextPage && !isStale && !selection.isAll;
  const productOf = ({ product }: LicenseBody) =>
    product === null ? null : products && (products.find(({ code }) => code === product) ?? null);

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
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2.5">
        <SearchField
          label="Search licenses"
          placeholder="Key, customer, product, or metadata"
          text={search.text}
          isBusy={isStale}
          onType={search.type}
          onClear={search.clear}
        />
        <StateFilter status={status} onChoose={(state) => void change({ status: state })} />
        <div className="grid w-full grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
          <Filters filter={filter} onChange={(changed) => void change(changed)} />
          {filter.customer && (
            <FilterTag
              label={`Show all customers, not only ${filter.customer}`}
              onRemove={() => void change({ customer: undefined })}
            >
              {filter.customer}
            </FilterTag>
          )}
          {filter.machine && (
            <FilterTag
              label={`Machine: ${filter.machine}. Show all machines`}
              onRemove={() => void change({ machine: undefined })}
            >
              Machine: {filter.machine}
            </FilterTag>
          )}
          {licenses?.length !== 0 && findMachine}
          <span className="max-sm:[&>button]:w-full sm:ml-auto">
            <ExportCsv key={list} filter={filter} />
          </span>
        </div>
      </div>
      <Card>
        {query.isError && !licenses ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : licenses?.length === 0 && !isStale ? (
          <NoLicenses
            filter={filter}
            createButton={createButton}
            findMachine={findMachine}
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
                  <LicenseRow
                    key={license.id}
                    license={license}
                    product={productOf(license)}
                    selection={selection}
                  />
                ))
              ) : (
                <LicenseRowSkeletons />
              )}
            </Table>
            <MoreRows query={query} />
          </div>
        )}
      </Card>
      <BulkBar
        licenses={selection.selected}
        more={
          hasMore &&
          selection.selected.length === licenses?.length && (
            <SelectAll
              key={list}
              filter={filter}
              total={isCounted(filter) ? dashboard?.licenses[status ?? 'total'] : undefined}
              onSelect={selection.chooseAll}
            />
          )
        }
        onClear={selection.clear}
        onSent={selection.keepShown}
      />
      <CreateLicense isRequested={create} onLeave={() => showCreate(false)} />
    </Page>
  );
};
