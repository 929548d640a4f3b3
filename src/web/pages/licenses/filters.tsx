import { useQuery } from '@tanstack/react-query';
import { ChevronDown, X } from 'lucide-react';
import type { ReactNode } from 'react';
import {
  LICENSE_STATES,
  type LicenseStatus,
  SEAT_FILTERS,
  type SeatFilter,
} from '../../../shared/rules/licenses.ts';
import { EXPIRIES, type Expiry, type LicenseFilter, type LicenseSort } from '../../data/license-filter.ts';
import { sortsOf } from '../../data/license-list.ts';
import { allProductsQuery, dashboardQuery } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Segments } from '../../ui/tabs.tsx';

const label = (state: string) => state.charAt(0).toUpperCase() + state.slice(1);

const EXPIRY_TEXTS: Record<Expiry, string> = {
  'next-7-days': 'Expires within 7 days',
  'next-30-days': 'Expires within 30 days',
  'last-30-days': 'Expired in the last 30 days',
  never: 'Never expires',
};

const SEAT_TEXTS: Record<SeatFilter, string> = {
  full: 'All seats taken',
  used: 'Seats taken',
};

const SORT_TEXTS: Record<LicenseSort, string> = {
  created_at: 'Oldest first',
  expires_at: 'Expires first',
  '-expires_at': 'Expires last',
  customer_email: 'Customer, A to Z',
  '-customer_email': 'Customer, Z to A',
};

export const StateFilter = ({
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

/** A select without a label beside it. One that narrows the list stands out. */
const FilterSelect = ({
  name,
  value,
  onChoose,
  children,
}: {
  name: string;
  value: string;
  onChoose: (value: string) => void;
  children: ReactNode;
}) => (
  <span className="relative min-w-0">
    <select
      aria-label={name}
      value={value}
      onChange={(event) => onChoose(event.currentTarget.value)}
      className={cx(
        'h-8 w-full max-w-60 appearance-none truncate rounded-lg border pr-8 pl-2.5 text-sm outline-offset-0 transition-colors max-sm:max-w-none',
        value === ''
          ? 'border-line-strong bg-surface text-muted hover:text-ink'
          : 'border-brass-line bg-brass-soft font-medium text-ink',
      )}
    >
      {children}
    </select>
    <ChevronDown aria-hidden className="pointer-events-none absolute top-2 right-2.5 size-4 text-muted" />
  </span>
);

/** Something that narrows the list, until it is clicked. */
export const FilterTag = ({
  label,
  onRemove,
  children,
}: {
  label: string;
  onRemove: () => void;
  children: ReactNode;
}) => (
  <Button size="sm" className="max-w-full" aria-label={label} onClick={onRemove}>
    <span className="min-w-0 truncate">{children}</span>
    <X aria-hidden />
  </Button>
);

const ProductFilter = ({
  product = '',
  onChoose,
}: {
  product: string | undefined;
  onChoose: (product: string | undefined) => void;
}) => {
  const { data: products = [] } = useQuery(allProductsQuery);
  // A label that is no product has licenses, too.
  const isListed = product === '' || products.some(({ code }) => code === product);
  return (
    <FilterSelect name="Filter by product" value={product} onChoose={(code) => onChoose(code || undefined)}>
      <option value="">All products</option>
      {!isListed && <option value={product}>{product}</option>}
      {products.map(({ code, name }) => (
        <option key={code} value={code}>
          {name === null ? code : `${name} (${code})`}
        </option>
      ))}
    </FilterSelect>
  );
};

/** What narrows down the list and orders it, besides its state and a search. */
export const Filters = ({
  filter,
  onChange,
}: {
  filter: LicenseFilter;
  onChange: (changed: LicenseFilter) => void;
}) => {
  const { product, expiry, seats, sort } = filter;
  const sorts = sortsOf(filter);
  return (
    <>
      <ProductFilter product={product} onChoose={(code) => onChange({ product: code })} />
      <FilterSelect
        name="Filter by expiry"
        value={expiry ?? ''}
        onChoose={(value) => onChange({ expiry: EXPIRIES.find((known) => known === value) })}
      >
        <option value="">Any expiry</option>
        {EXPIRIES.map((value) => (
          <option key={value} value={value}>
            {EXPIRY_TEXTS[value]}
          </option>
        ))}
      </FilterSelect>
      <FilterSelect
        name="Filter by seats"
        value={seats ?? ''}
        onChoose={(value) =>
          onChange({ seats: SEAT_FILTERS.find((known) => known === value), machine: undefined })
        }
      >
        <option value="">Any seats</option>
        {SEAT_FILTERS.map((value) => (
          <option key={value} value={value}>
            {SEAT_TEXTS[value]}
          </option>
        ))}
      </FilterSelect>
      <FilterSelect
        name="Order"
        value={sorts.find((known) => known === sort) ?? ''}
        onChoose={(value) => onChange({ sort: sorts.find((known) => known === value) })}
      >
        <option value="">Newest first</option>
        {sorts.map((value) => (
          <option key={value} value={value}>
            {SORT_TEXTS[value]}
          </option>
        ))}
      </FilterSelect>
    </>
  );
};
