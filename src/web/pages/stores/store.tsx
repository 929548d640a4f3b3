import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ApiError } from '../../data/error.ts';
import { deleteStore, type Store, storeQuery } from '../../data/store-queries.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, CardHeader, Fact, Facts } from '../../ui/card.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Page, UpLink } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EditStore } from './edit-store.tsx';
import { Offers } from './offers.tsx';
import { PROVIDERS } from './providers.ts';
import { StoreBadge } from './store-badge.tsx';

const route = getRouteApi('/shell/stores/$id');

const ABOVE = <UpLink to="/stores" name="Stores" />;

const DeleteStore = ({ store }: { store: Store }) => {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  return (
    <>
      <Button size="sm" variant="danger-outline" onClick={() => setOpen(true)}>
        <Trash2 aria-hidden />
        Delete
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title="Delete this store?"
        action="Delete store"
        isDangerous
        typed={store.name}
        write={deleteStore(store.id)}
        onDone={() => showToast('Store deleted')}
        lead={() => navigate({ to: '/stores' })}
      >
        <p>
          Its offers are deleted, and what it sends from now on is refused: refunds and renewals no longer
          change licenses. Its purchases and their licenses stay as they are.
        </p>
      </Confirm>
    </>
  );
};

const Connection = ({ store }: { store: Store }) => {
  const { where, secret, apiKey } = PROVIDERS[store.provider];
  return (
    <Card>
      <CardHeader title="Connection" hint={`Enter the URL in ${where}.`} />
      <Facts>
        <Fact name="Webhook URL">
          {secret === null ? (
            'Shown only when it was created, because it has a secret token. To get another one, press Edit, and choose “Create another webhook URL”.'
          ) : (
            <Copyable text={store.webhook_url} what="webhook URL">
              <code className="text-xs">{store.webhook_url}</code>
            </Copyable>
          )}
        </Fact>
        <Fact name="Last event">
          {store.last_event_at === null ? (
            <span aria-live="polite">
              None yet. Send a test event from the store: this page shows it when it arrives.
            </span>
          ) : (
            <Time at={store.last_event_at} />
          )}
        </Fact>
        <Fact name="Secret">{store.has_secret ? 'Set' : 'Missing, so every event is refused'}</Fact>
        {apiKey !== null && <Fact name="API key">{store.has_api_key ? 'Set' : 'None'}</Fact>}
        {store.checked_at !== null && (
          <Fact name="Checked through">
            <Time at={store.checked_at} />
          </Fact>
        )}
        {store.check_problem !== null && (
          <Fact name="Last check">
            <span className="text-bad">{store.check_problem}</span>
          </Fact>
        )}
        <Fact name="Test purchases">{store.accept_test ? 'Create licenses' : 'Only listed'}</Fact>
      </Facts>
    </Card>
  );
};

export const StorePage = () => {
  const { id } = route.useParams();
  const query = useQuery(storeQuery(id));
  const [isEditing, setEditing] = useState(false);
  const store = query.data;
  if (query.error instanceof ApiError && query.error.status === 404)
    return (
      <Page title="Store not found" hint="It was deleted, or never existed." above={ABOVE}>
        <div>
          <ButtonLink to="/stores" variant="solid">
            See all stores
          </ButtonLink>
        </div>
      </Page>
    );
  if (!store)
    return (
      <Page title="Store" above={ABOVE}>
        {query.isError ? (
          <Card>
            <LoadError error={query.error} onRetry={() => void query.refetch()} />
          </Card>
        ) : (
          <Skeleton className="h-60" />
        )}
      </Page>
    );
  return (
    <Page
      title={store.name}
      beside={<StoreBadge store={store} />}
      hint={PROVIDERS[store.provider].name}
      above={ABOVE}
      actions={
        <>
          <Button size="sm" onClick={() => setEditing(true)}>
            <Pencil aria-hidden />
            Edit
          </Button>
          <DeleteStore store={store} />
        </>
      }
    >
      <Connection store={store} />
      <Offers store={store} />
      <EditStore store={store} isOpen={isEditing} onClose={() => setEditing(false)} />
    </Page>
  );
};
