import { useInfiniteQuery } from '@tanstack/react-query';
import { purchasesQuery } from '../../data/store-queries.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { MoreRows } from '../../ui/more.tsx';
import { Table } from '../../ui/table.tsx';
import { PURCHASE_HEAD, PurchaseRow } from '../purchases/purchase-row.tsx';

/** What a customer has bought in the account's stores. A search finds addresses that begin alike, too. */
export const CustomerPurchases = ({ email }: { email: string }) => {
  const query = useInfiniteQuery(purchasesQuery({ q: email }));
  const purchases = query.data?.pages
    .flatMap(({ data }) => data)
    .filter(({ customer_email: address }) => address?.toLowerCase() === email.toLowerCase());
  if (!purchases || purchases.length === 0) return null;
  return (
    <Card>
      <CardHeader title="Purchases" hint="What this customer has bought in your stores, newest first." />
      <Table label="Purchases" head={PURCHASE_HEAD}>
        {purchases.map((purchase) => (
          <PurchaseRow key={purchase.id} purchase={purchase} />
        ))}
      </Table>
      <MoreRows query={query} />
    </Card>
  );
};
