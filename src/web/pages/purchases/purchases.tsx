import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { SearchX, ShoppingBag } from 'lucide-react';
import { PURCHASE_STATUSES, type PurchaseStatus } from '../../../shared/rules/stores.ts';
import { purchasesQuery, storesQuery } from '../../data/store-queries.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { MoreRows } from '../../ui/more.tsx';
import { Empty, LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { useTypedText } from '../../ui/use-typed-text.ts';
import { statusName } from './purchase-badge.tsx';
import { PURCHASE_HEAD, PurchaseRow } from './purchase-row.tsx';

const route = getRouteApi('/shell/purchases');

const NoPurchases = () => {
  const { data } = useQuery(storesQuery);
  const hasStore = (data?.data.length ?? 0) > 0;
  return (
    <Empty
      icon={<ShoppingBag />}
      title="No purchases yet"
      action={
        <ButtonLink to="/stores" search={hasStore ? {} : { create: true }} variant="solid">
          {hasStore ? 'See stores' : 'Add store'}
        </ButtonLink>
      }
    >
      {hasStore
        ? 'Purchases in your stores show up here, with their licenses.'
        : 'Connect the store where you sell. Each purchase creates its licenses.'}
    </Empty>
  );
};

export const Purchases = () => {
  const { q = '', status } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = { q: q.trim(), status };
  const query = useInfiniteQuery({ ...purchasesQuery(filter), placeholderData: keepPreviousData });
  const isStale = query.isPlaceholderData;
  const purchases = query.data?.pages.flatMap(({ data }) => data);
  const change = (changed: { q?: string | undefined; status?: PurchaseStatus | undefined }) =>
    navigate({ search: (before) => ({ ...before, ...changed }), replace: true, resetScroll: false });
  const search = useTypedText(q, (text) => change({ q: text || undefined }));
  const choose = (chosen: string) =>
    void change({ status: PURCHASE_STATUSES.find((name) => name === chosen) });
  const isFiltered = filter.q !== '' || status !== undefined;
  const clear = () => {
    search.clear();
    choose('');
  };
  return (
    <Page title="Purchases" hint="What was bought in your stores, and the licenses it created.">
      <div className="flex flex-wrap gap-3">
        <SearchField
          label="Search purchases"
          placeholder="Email, order number, or license key"
          text={search.text}
          isBusy={isStale}
          onType={search.type}
          onClear={search.clear}
        />
        <select
          aria-label="Status"
          value={status ?? ''}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
          className="h-9 rounded-lg border border-line-strong bg-surface px-3 text-base shadow-card hover:border-muted"
        >
          <option value="">Any status</option>
          {PURCHASE_STATUSES.map((name) => (
            <option key={name} value={name}>
              {statusName(name)}
            </option>
          ))}
        </select>
      </div>
      <Card>
        {query.isError && !purchases ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : purchases?.length === 0 && !isStale ? (
          isFiltered ? (
            <Empty
              icon={<SearchX />}
              title="No purchase matches"
              action={
                <Button size="sm" onClick={clear}>
                  Clear filters
                </Button>
              }
            >
              Search by the beginning of an email address, or by a whole order number or license key.
            </Empty>
          ) : (
            <NoPurchases />
          )
        ) : (
          <div aria-busy={isStale} className={cx('transition-opacity', isStale && 'opacity-60 delay-150')}>
            <Table label="Purchases" head={PURCHASE_HEAD}>
              {purchases && purchases.length > 0 ? (
                purchases.map((purchase) => <PurchaseRow key={purchase.id} purchase={purchase} />)
              ) : (
                <SkeletonRows columns={5} />
              )}
            </Table>
            <MoreRows query={query} />
          </div>
        )}
      </Card>
    </Page>
  );
};
