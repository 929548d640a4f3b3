import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Plus, Store as StoreIcon } from 'lucide-react';
import { type Store, storesQuery } from '../../data/store-queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { Empty, LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { ROW_LINK, Table, Td, Th, Tr } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { AddStore } from './add-store.tsx';
import { PROVIDERS } from './providers.ts';
import { StoreBadge } from './store-badge.tsx';

const route = getRouteApi('/shell/stores');

const MIDDLE = 'max-md:hidden';

const HEAD = (
  <>
    <Th>Store</Th>
    <Th className={MIDDLE}>Where you sell</Th>
    <Th>Status</Th>
    <Th className={cx('text-right', MIDDLE)}>Last event</Th>
  </>
);

const Row = ({ store }: { store: Store }) => (
  <Tr className="relative">
    <Td className="w-1/2 max-w-0">
      <Link to="/stores/$id" params={{ id: store.id }} className={cx('block truncate font-medium', ROW_LINK)}>
        {store.name}
      </Link>
    </Td>
    <Td className={MIDDLE}>{PROVIDERS[store.provider].name}</Td>
    <Td>
      <StoreBadge store={store} />
    </Td>
    <Td className={cx('text-right text-muted', MIDDLE)}>
      {store.last_event_at === null ? 'None yet' : <Time at={store.last_event_at} />}
    </Td>
  </Tr>
);

export const Stores = () => {
  const { create = false } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(storesQuery);
  const stores = query.data?.data;
  const showCreate = (isOpen: boolean) =>
    void navigate({ search: isOpen ? { create: true } : {}, replace: true, resetScroll: false });
  const addButton = (
    <Button variant="solid" onClick={() => showCreate(true)}>
      <Plus aria-hidden />
      Add store
    </Button>
  );
  return (
    <Page title="Stores" hint="Where you sell. A purchase there becomes a license here." actions={addButton}>
      <Card>
        {query.isError && !stores ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : stores?.length === 0 ? (
          <Empty icon={<StoreIcon />} title="No stores yet" action={addButton}>
            Connect Stripe, Paddle, Lemon Squeezy, Polar, Gumroad, FastSpring, WooCommerce, or a shop of your
            own. Each purchase creates its licenses and emails the key to the buyer.
          </Empty>
        ) : (
          <Table label="Stores" head={HEAD}>
            {stores ? (
              stores.map((store) => <Row key={store.id} store={store} />)
            ) : (
              <SkeletonRows rows={3} columns={4} />
            )}
          </Table>
        )}
      </Card>
      <AddStore isOpen={create} onClose={() => showCreate(false)} />
    </Page>
  );
};
