import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { webhooksQuery } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty, LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { AddWebhook } from './add-webhook.tsx';
import { LastDay } from './last-day.tsx';
import { WEBHOOK_HEAD, WebhookRow, WebhookRowSkeletons } from './webhook-row.tsx';

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
      hint="Tell your own servers about licenses and payments as they happen."
      actions={addButton}
    >
      <Card>
        {query.isError && !webhooks ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : webhooks?.length === 0 ? (
          <Empty icon={<WebhookIcon />} title="No webhooks yet" action={addButton}>
            Give the address of an endpoint of yours, and it gets a request for every license that is created
            or verified, every payment and every cancellation. What fails is retried for days.
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
