import { getRouteApi } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import type { Webhook } from '../../data/webhook-queries.ts';
import { Card } from '../../ui/card.tsx';
import { cx } from '../../ui/cx.ts';
import { MoreRows } from '../../ui/more.tsx';
import { Empty, LoadError } from '../../ui/notice.tsx';
import { Table } from '../../ui/table.tsx';
import { DeliveryPanel } from './delivery-panel.tsx';
import { DeliveryHead, DeliveryRow, DeliveryRowSkeletons } from './delivery-row.tsx';
import { SendTest } from './send-test.tsx';
import { useDeliveries } from './use-deliveries.ts';
import { useIsWide } from './use-wide.ts';

const route = getRouteApi('/shell/webhooks/$id');

const NoDeliveries = ({ webhook }: { webhook: Webhook }) => (
  <Empty
    icon={<Send />}
    title="No deliveries yet"
    action={webhook.status === 'enabled' && <SendTest id={webhook.id} />}
  >
    New events show up here, with each delivery attempt and your receiver’s response.
  </Empty>
);

export const Deliveries = ({ webhook }: { webhook: Webhook }) => {
  const { delivery: openId } = route.useSearch();
  const navigate = route.useNavigate();
  const isWide = useIsWide();
  const list = useDeliveries(webhook.id);
  const { query, deliveries } = list;
  const hasFailed = query.isError && !deliveries;
  const isOpen = openId !== undefined && !hasFailed;
  const isNarrow = isWide && isOpen;
  const close = () => {
    void navigate({ search: { tab: 'deliveries' }, replace: true, resetScroll: false });
    const row = openId && document.getElementById(openId);
    (row || document.getElementById('main'))?.focus({ preventScroll: true });
  };

  return (
    <div className={cx('grid items-start gap-5', isNarrow && 'grid-cols-[minmax(0,5fr)_minmax(0,6fr)]')}>
      <Card>
        {hasFailed ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : deliveries?.length === 0 ? (
          <NoDeliveries webhook={webhook} />
        ) : (
          <>
            <Table label="Deliveries" head={<DeliveryHead isNarrow={isNarrow} />}>
              {deliveries ? (
                deliveries.map((delivery) => (
                  <DeliveryRow
                    key={delivery.id}
                    delivery={delivery}
                    isNarrow={isNarrow}
                    isOpen={delivery.id === openId}
                  />
                ))
              ) : (
                <DeliveryRowSkeletons isNarrow={isNarrow} />
              )}
            </Table>
            <MoreRows query={query} />
          </>
        )}
      </Card>
      {isOpen && <DeliveryPanel webhook={webhook} id={openId} list={list} onClose={close} />}
    </div>
  );
};
