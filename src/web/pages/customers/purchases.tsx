import type { UseInfiniteQueryResult, InfiniteData } from '@tanstack/react-query';
import type { PurchasePage } from '../../data/store-queries.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { MoreRows } from '../../ui/more.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Table } from '../../ui/table.tsx';
import { PURCHASE_HEAD, PurchaseRow } from '../purchases/purchase-row.tsx';

interface CustomerPurchasesProps {
  email: string;
  query: UseInfiniteQueryResult<InfiniteData<PurchasePage>>;
}

/** What a customer has bought in the account's stores. A search finds addresses that begin alike, too. */
export const CustomerPurchases = ({ email, query }: CustomerPurchasesProps) => {
  const purchases = query.data?.pages
    .flatMap(({ data }) => data)
    .filter(({ customer_email: address }) => address?.toLowerCase() === email.toLowerCase());
  if (purchases ? purchases.length === 0 : !query.isError) return null;
  return (
    <Card>
      <CardHeader title="Purchases" hint="What this customer has bought in your stores, newest first." />
      {purchases ? (
        <>
          <Table label="Purchases" head={PURCHASE_HEAD}>
            {purchases.map((purchase) => (
              <PurchaseRow key={purchase.id} purchase={purchase} />
            ))}
          </Table>
          <MoreRows query={query} />
        </>
      ) : (
        <LoadError error={query.error} onRetry={() => void query.refetch()} />
      )}
    </Card>
  );
};
