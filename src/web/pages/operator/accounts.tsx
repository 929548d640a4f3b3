import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  type OperatorAccount,
  type OperatorActions,
  operatorAccountsQuery,
  type Order,
} from '../../data/operator.ts';
import { formatBytes, formatCount } from '../../lib/format.ts';
import { Badge, StateBadge } from '../../ui/badge.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table, Td, Th, Tr } from '../../ui/table.tsx';
import { Segments } from '../../ui/tabs.tsx';
import { useTypedText } from '../../ui/use-typed-text.ts';
import { AccountMenu } from './account-menu.tsx';

const MIDDLE = 'max-lg:hidden';
const RIGHT = 'nums text-right max-sm:hidden';

const HEAD = (
  <>
    <Th>Account</Th>
    <Th>Plan</Th>
    <Th className={RIGHT}>Stored</Th>
    <Th className={`${RIGHT} ${MIDDLE}`}>Calls this period</Th>
    <Th className={`${RIGHT} ${MIDDLE}`}>Licenses</Th>
    <Th>
      <span className="sr-only">Actions</span>
    </Th>
  </>
);

const Row = ({ account, actions }: { account: OperatorAccount; actions: OperatorActions }) => (
  <Tr>
    <Td className="max-w-64">
      <span className="block truncate font-medium">{account.name ?? account.email}</span>
      <span className="block truncate text-xs text-muted">
        {account.name === null ? account.id : account.email}
      </span>
    </Td>
    <Td>
      <span className="flex flex-wrap gap-1">
        <Badge>{account.plan}</Badge>
        {account.suspended_at !== null && <StateBadge tone="pause">Suspended</StateBadge>}
        {account.moving_to !== null && <StateBadge tone="pause">Moving to {account.moving_to}</StateBadge>}
      </span>
    </Td>
    <Td className={RIGHT}>
      {formatBytes(account.storage.used)}
      <span className="block text-xs text-muted">
        of {formatBytes(account.storage.limit)}, in {account.database}
      </span>
    </Td>
    <Td className={`${RIGHT} ${MIDDLE}`}>
      {account.usage ? (
        <>
          {formatCount(account.usage.api_usage)}
          <span className="block text-xs text-muted">of {formatCount(account.usage.api_limit)}</span>
        </>
      ) : (
        'Unknown'
      )}
    </Td>
    <Td className={`${RIGHT} ${MIDDLE}`}>{formatCount(account.licenses)}</Td>
    <Td className="w-10">
      <AccountMenu account={account} actions={actions} />
    </Td>
  </Tr>
);

const ORDERS = [
  { value: 'size', label: 'Largest' },
  { value: 'newest', label: 'Newest' },
] as const;

/** The largest or newest accounts of those that match, with their plans, what they store, and how much they call. */
export const Accounts = ({ token, actions }: { token: string; actions: OperatorActions }) => {
  const [q, setQ] = useState('');
  const [order, setOrder] = useState<Order>('size');
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...operatorAccountsQuery(token, q.trim(), order),
    placeholderData: keepPreviousData,
  });
  const search = useTypedText(q, async (text) => setQ(text));
  return (
    <Card>
      <CardHeader title="Accounts" hint="Twenty at most. Search to find others." />
      <div className="flex flex-wrap items-center gap-3 px-5 pb-4">
        <SearchField
          label="Search accounts"
          placeholder="Email, name, or account ID"
          text={search.text}
          isBusy={isPlaceholderData}
          onType={search.type}
          onClear={search.clear}
        />
        <Segments label="Order" value={order} choices={[...ORDERS]} onChoose={setOrder} />
      </div>
      {error && !data ? (
        <LoadError error={error} onRetry={() => void refetch()} />
      ) : data?.length === 0 && !isPlaceholderData ? (
        <p className="border-t border-line px-5 py-6 text-muted">No account matches.</p>
      ) : (
        <Table label="Accounts" head={HEAD}>
          {data && data.length > 0 ? (
            data.map((account) => <Row key={account.id} account={account} actions={actions} />)
          ) : (
            <SkeletonRows columns={6} />
          )}
        </Table>
      )}
    </Card>
  );
};
