import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Webhook as WebhookIcon } from 'lucide-react';
import { editWebhook } from '../../data/mutations.ts';
import { type Webhook, webhooksQuery } from '../../data/webhook-queries.ts';
import { hostOf } from '../../lib/format.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { CopyIcon } from '../../ui/copy.tsx';
import { cx } from '../../ui/cx.ts';
import { Drafted, useDraft, useOpened } from '../../ui/draft.tsx';
import { Form } from '../../ui/form.tsx';
import { Empty, LoadError } from '../../ui/notice.tsx';
import { Page, UpLink } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { showToast } from '../../ui/toast.tsx';
import { Deliveries } from './deliveries.tsx';
import { EventChoice, EventNames, chosenEvents, eventsOf } from './events.tsx';
import { DescriptionField, UrlField } from './fields.tsx';
import { HealthBadge, HealthNotice } from './health.tsx';
import { SecretCard } from './secret.tsx';
import { WebhookActions } from './webhook-actions.tsx';

const EndpointCard = ({ webhook }: { webhook: Webhook }) => {
  const edit = useMutation({ ...editWebhook(webhook.id), onSuccess: () => showToast('Webhook saved') });
  const { url, description } = webhook;
  const { opened, changesTo, saved } = useOpened({ url, description, events: eventsOf(webhook) });
  const send = (texts: Record<string, string>, form: FormData) => {
    const next = {
      url: texts['url']?.trim() ?? '',
      description: texts['description']?.trim() || null,
      events: chosenEvents(form),
    };
    edit.mutate(changesTo(next), { onSuccess: () => saved(next) });
  };
  return (
    <Card aria-label="Settings">
      <CardHeader title="Settings" hint="Changes apply to all future attempts, including retries." />
      <Form write={edit} onSend={send} draft={useDraft()} className="px-5 pt-1 pb-5">
        <UrlField value={opened.url} />
        <DescriptionField value={opened.description} />
        <EventChoice {...(opened.events && { events: opened.events })} />
        <div className="flex">
          <Button type="submit" variant="solid" isBusy={edit.isPending}>
            Save changes
          </Button>
        </div>
      </Form>
    </Card>
  );
};

const Settings = ({ webhook }: { webhook: Webhook }) => (
  <div className="grid items-start gap-5 lg:grid-cols-2">
    <div>
      <Drafted name={`webhook.${webhook.id}`}>
        <EndpointCard webhook={webhook} />
      </Drafted>
    </div>
    <SecretCard id={webhook.id} />
  </div>
);

const route = getRouteApi('/shell/webhooks/$id');

const TABS = [
  { tab: 'deliveries', name: 'Deliveries' },
  { tab: 'settings', name: 'Settings' },
] as const;

const BACK = <UpLink to="/webhooks" name="Webhooks" />;

const Tabs = ({ id, tab }: { id: string; tab: 'deliveries' | 'settings' }) => (
  <nav aria-label="Webhook" className="flex gap-5 border-b border-line">
    {TABS.map((choice) => (
      <Link
        key={choice.tab}
        to="/webhooks/$id"
        params={{ id }}
        search={{ tab: choice.tab }}
        resetScroll={false}
        aria-current={choice.tab === tab ? 'page' : undefined}
        className={cx(
          '-mb-px border-b-2 pb-2 transition-colors',
          choice.tab === tab
            ? 'border-ink font-medium'
            : 'border-transparent text-muted hover:border-line-strong hover:text-ink',
        )}
      >
        {choice.name}
      </Link>
    ))}
  </nav>
);

const Loading = () => (
  <Page
    title="Webhook"
    heading={
      <>
        <span className="sr-only">Webhook</span>
        <Skeleton className="h-7 w-72 max-w-full" />
      </>
    }
    above={BACK}
  >
    <Skeleton className="h-8 w-44" />
    <Skeleton className="h-96 rounded-xl" />
  </Page>
);

const NotFound = () => (
  <Page title="Webhook not found" above={BACK}>
    <Card>
      <Empty
        icon={<WebhookIcon />}
        title="This webhook doesn’t exist"
        action={
          <ButtonLink to="/webhooks" variant="solid">
            View all webhooks
          </ButtonLink>
        }
      >
        It was deleted, or it belongs to another account.
      </Empty>
    </Card>
  </Page>
);

const Found = ({ webhook }: { webhook: Webhook }) => {
  const { tab = 'deliveries' } = route.useSearch();
  return (
    <Page
      title={hostOf(webhook.url)}
      heading={<span className="line-clamp-2 max-w-3xl break-all">{webhook.url}</span>}
      beside={
        <span className="flex items-center gap-1.5">
          <HealthBadge {...webhook} />
          <CopyIcon text={webhook.url} what="URL" />
        </span>
      }
      hint={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
          {webhook.description && <span className="min-w-0 break-words">{webhook.description}</span>}
          <EventNames events={webhook.events} />
        </span>
      }
      actions={<WebhookActions webhook={webhook} />}
      above={BACK}
    >
      <HealthNotice {...webhook} />
      <Tabs id={webhook.id} tab={tab} />
      {tab === 'settings' ? <Settings webhook={webhook} /> : <Deliveries webhook={webhook} />}
    </Page>
  );
};

export const WebhookPage = () => {
  const { id } = route.useParams();
  const query = useQuery(webhooksQuery);
  const webhook = query.data?.data.find((listed) => listed.id === id);
  if (webhook) return <Found key={id} webhook={webhook} />;
  if (query.isError && !query.data) {
    return (
      <Page title="Webhook" above={BACK}>
        <Card>
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        </Card>
      </Page>
    );
  }
  // The cached list may be older than the webhook.
  return query.isFetching ? <Loading /> : <NotFound />;
};
