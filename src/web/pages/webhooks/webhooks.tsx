import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { dashboardQuery } from '../../data/queries.ts';
import { webhooksQuery } from '../../data/webhook-queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Figure } from '../../ui/figure.tsx';
import { Empty, LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { AddWebhook } from './add-webhook.tsx';
import { WEBHOOK_HEAD, WebhookRow, WebhookRowSkeletons } from './webhook-row.tsx';

/** The deliveries of all webhooks in the last 24 hours. */
const LastDay = () => {
  const { data, isError } = useQuery(dashboardQuery);
  const { delivered_24h: delivered, failed_24h: failed = 0 } = data?.webhooks ?? {};
  // The list shows its own error.
  if (isError && !data) return null;
  return (
    <dl className="flex flex-wrap gap-x-6 sm:gap-x-8 gap-y-2 border-b border-line px-5 py-3">
      <Figure name="Delivered (24h)" value={delivered} />
      <Figure name="Failed attempts (24h)" value={data && failed} isBad={failed > 0} />
    </dl>
  );
};

const route = getRouteApi('/shell/webhooks');

export const Webhooks = () => {
  const { create = false } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(webhooksQuery);
  const webhooks = query.data?.data;
  const showCreate = (isOpen: boolean) =>
    void navigate({ search: isOpen ? { create: true } : {}, replace: true, resetScroll: false });
  const addButton = (
    <Button variant="solid" onClick={() => showCreate(true)}>
      <Plus aria-hidden />
      Add webhook
    </Button>
  );

  return (
    <Page
      title="Webhooks"
      hint="Notify your servers about licenses and payments as they happen."
      actions={addButton}
    >
      <Card>
        {query.isError && !webhooks ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : webhooks?.length === 0 ? (
          <Empty icon={<WebhookIcon />} title="No webhooks yet" action={addButton}>
            Add the URL of your receiver to get a request whenever a license is created or verified, a payment
            succeeds, or a subscription is canceled. Failed deliveries are retried for days.
          </Empty>
        ) : (
          <>
            <LastDay />
            <Table label="Webhooks" head={WEBHOOK_HEAD}>
              {webhooks ? (
                webhooks.map((webhook) => <WebhookRow key={webhook.id} webhook={webhook} />)
              ) : (
                <WebhookRowSkeletons />
              )}
            </Table>
          </>
        )}
      </Card>
      <AddWebhook isOpen={create} onClose={() => showCreate(false)} />
    </Page>
  );
};
