import { Link } from '@tanstack/react-router';
import type { Purchase } from '../../data/store-queries.ts';
import { Badge } from '../../ui/badge.tsx';
import { cx } from '../../ui/cx.ts';
import { ROW_LINK, Td, Th, Tr } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { PROVIDERS } from '../stores/providers.ts';
import { PurchaseBadge } from './purchase-badge.tsx';

const MIDDLE = 'max-md:hidden';

export const PURCHASE_HEAD = (
  <>
    <Th>Customer</Th>
    <Th>Status</Th>
    <Th className={MIDDLE}>Order</Th>
    <Th className={MIDDLE}>Store</Th>
    <Th className={cx('text-right', MIDDLE)}>Time</Th>
  </>
);

export const PurchaseRow = ({ purchase }: { purchase: Purchase }) => (
  <Tr className="relative">
    <Td className="w-2/5 max-w-0">
      <Link
        to="/purchases/$id"
        params={{ id: purchase.id }}
        className={cx('block truncate font-medium', ROW_LINK)}
      >
        {purchase.customer_email ?? 'Address not known yet'}
      </Link>
      {purchase.customer_name !== null && (
        <span className="block truncate text-xs text-muted">{purchase.customer_name}</span>
      )}
    </Td>
    <Td>
      <span className="flex flex-wrap gap-1">
        <PurchaseBadge status={purchase.status} />
        {purchase.test && <Badge>Test</Badge>}
      </span>
    </Td>
    <Td className={cx('max-w-0 truncate md:w-1/5', MIDDLE)}>
      {purchase.order ?? <span className="text-muted">None</span>}
    </Td>
    <Td className={cx('whitespace-nowrap', MIDDLE)}>{PROVIDERS[purchase.provider].name}</Td>
    <Td className={cx('text-right text-muted', MIDDLE)}>
      <Time at={purchase.created_at} />
    </Td>
  </Tr>
);
