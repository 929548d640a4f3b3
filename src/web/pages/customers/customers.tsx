import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { SearchX, Users } from 'lucide-react';
import { customerWords } from '../../../shared/rules/license-fields.ts';
import { MAX_COUNTED } from '../../../shared/rules/licenses.ts';
import { type CustomerBody, customersQuery } from '../../data/customer-queries.ts';
import { capitalize, formatCount } from '../../lib/format.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { MoreRows } from '../../ui/more.tsx';
import { Empty, LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { ROW_LINK, Table, Td, Th, Tr } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useTypedText } from '../../ui/use-typed-text.ts';

const route = getRouteApi('/shell/customers');

const MIDDLE = 'max-md:hidden';

const Head = ({ hasPurchases }: { hasPurchases: boolean }) => (
  <>
    <Th>Customer</Th>
    <Th className={MIDDLE}>Company</Th>
    <Th className="text-right">Licenses</Th>
    {hasPurchases && <Th className={cx('text-right', MIDDLE)}>Purchases</Th>}
    <Th className={MIDDLE}>Latest license</Th>
  </>
);

const Count = ({ of: count }: { of: number }) => (
  <>
    {formatCount(count)}
    {count === MAX_COUNTED && '+'}
  </>
);

const Row = ({ customer, hasPurchases }: { customer: CustomerBody; hasPurchases: boolean }) => (
  <Tr className="relative">
    <Td className="w-1/2 max-w-0">
      <Link
        to="/customers/$email"
        params={{ email: customer.customer_email }}
        className={cx('block truncate font-medium', ROW_LINK)}
      >
        {customer.customer_name ?? customer.customer_email}
      </Link>
      {customer.customer_name !== null && (
        <span className="block truncate text-xs text-muted">{customer.customer_email}</span>
      )}
    </Td>
    <Td className={cx('w-1/4 max-w-0 truncate', MIDDLE)}>
      {customer.customer_company ?? <span className="text-muted">None</span>}
    </Td>
    <Td className="nums text-right">
      <Count of={customer.licenses} />
    </Td>
    {hasPurchases && (
      <Td className={cx('nums text-right', MIDDLE)}>
        <Count of={customer.purchases} />
      </Td>
    )}
    <Td className={MIDDLE}>
      <Time at={customer.last_license_at} />
    </Td>
  </Tr>
);

export const Customers = () => {
  const { q = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery({ ...customersQuery(q.trim()), placeholderData: keepPreviousData });
  const isStale = query.isPlaceholderData;
  const customers = query.data?.pages.flatMap(({ data }) => data);
  // The column is hidden from sellers who sell in no store.
  const hasPurchases = customers?.some(({ purchases }) => purchases > 0) ?? false;
  const search = useTypedText(q, (text) =>
    navigate({ search: text ? { q: text } : {}, replace: true, resetScroll: false }),
  );
  return (
    <Page title="Customers" hint="Who your licenses belong to, by email address.">
      <SearchField
        label="Search customers"
        placeholder={capitalize(customerWords('disjunction'))}
        text={search.text}
        isBusy={isStale}
        onType={search.type}
        onClear={search.clear}
      />
      <Card>
        {query.isError && !customers ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : customers?.length === 0 && !isStale ? (
          q.trim() === '' ? (
            <Empty
              icon={<Users />}
              title="No customers yet"
              action={
                <ButtonLink to="/licenses" search={{ create: true }} variant="solid">
                  Create license
                </ButtonLink>
              }
            >
              Each license’s email address is a customer.
            </Empty>
          ) : (
            <Empty
              icon={<SearchX />}
              title="No customer matches"
              action={
                <Button size="sm" onClick={search.clear}>
                  Clear search
                </Button>
              }
            >
              {`No ${customerWords('disjunction')} has “${q.trim()}”.`}
            </Empty>
          )
        ) : (
          <div
            aria-busy={isStale}
            className={cx('transition-opacity', isStale && customers?.length !== 0 && 'opacity-60 delay-150')}
          >
            <Table label="Customers" head={<Head hasPurchases={hasPurchases} />}>
              {customers && customers.length > 0 ? (
                customers.map((customer) => (
                  <Row key={customer.customer_email} customer={customer} hasPurchases={hasPurchases} />
                ))
              ) : (
                <SkeletonRows columns={hasPurchases ? 5 : 4} />
              )}
            </Table>
            <MoreRows query={query} />
          </div>
        )}
      </Card>
    </Page>
  );
};
