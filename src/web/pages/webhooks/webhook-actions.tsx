import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis, Pencil, Power, PowerOff, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api, call } from '../../data/client.ts';
import { dashboardQuery, deliveriesQuery, type Webhook, webhooksQuery } from '../../data/queries.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx';
import { tell, tellError } from '../../ui/toast.tsx';
import { SendTest } from './send-test.tsx';
import { hostOf } from './url-parts.ts';

interface DialogProps {
  webhook: Webhook;
  isOpen: boolean;
  onClose: () => void;
}

const useSetStatus = ({ id }: Webhook) => {
  const queryClient = useQueryClient();
  return async (status: Webhook['status']) => {
    await call(api.webhooks[':id'].$patch({ param: { id }, json: { status } }));
    tell(status === 'enabled' ? 'Webhook enabled' : 'Webhook disabled');
    await Promise.all(
      [webhooksQuery, deliveriesQuery(id)].map(({ queryKey }) => queryClient.invalidateQueries({ queryKey })),
    );
  };
};

const Disable = ({ webhook, ...props }: DialogProps) => {
  const setStatus = useSetStatus(webhook);
  return (
    <Confirm
      {...props}
      title="Disable this webhook?"
      action="Disable webhook"
      onConfirm={() => setStatus('disabled')}
    >
      <p>
        Nothing is sent to it from now on, and its pending deliveries are given up. Events that happen while
        it is disabled are not kept for it.
      </p>
      <p>You can enable it again at any time, and resend the deliveries that you want.</p>
    </Confirm>
  );
};

const Delete = ({ webhook, ...props }: DialogProps) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const remove = async () => {
    await call(api.webhooks[':id'].$delete({ param: { id: webhook.id } }));
    tell('Webhook deleted');
    await navigate({ to: '/webhooks' });
    queryClient.removeQueries({ queryKey: deliveriesQuery(webhook.id).queryKey });
    await Promise.all(
      [webhooksQuery, dashboardQuery].map(({ queryKey }) => queryClient.invalidateQueries({ queryKey })),
    );
  };
  return (
    <Confirm
      {...props}
      title="Delete this webhook?"
      action="Delete webhook"
      isDangerous
      typed={hostOf(webhook.url)}
      onConfirm={remove}
    >
      <p>
        Nothing is sent to <span className="break-all text-ink">{webhook.url}</span> any more. Its deliveries
        go with it, those that are pending and the log of those before. This can’t be undone.
      </p>
    </Confirm>
  );
};

const Enable = ({ webhook }: { webhook: Webhook }) => {
  const setStatus = useSetStatus(webhook);
  const [isBusy, setBusy] = useState(false);
  const enable = async () => {
    setBusy(true);
    await setStatus('enabled').catch(tellError);
    setBusy(false);
  };
  return (
    <Button isBusy={isBusy} onClick={() => void enable()}>
      <Power aria-hidden />
      Enable
    </Button>
  );
};

export const WebhookActions = ({ webhook }: { webhook: Webhook }) => {
  const [open, setOpen] = useState<'disable' | 'delete' | null>(null);
  const setStatus = useSetStatus(webhook);
  const navigate = useNavigate();
  const close = () => setOpen(null);
  const edit = () =>
    void navigate({ to: '/webhooks/$id', params: { id: webhook.id }, search: { tab: 'settings' } });
  return (
    <>
      {webhook.status === 'enabled' ? <SendTest id={webhook.id} /> : <Enable webhook={webhook} />}
      <Menu
        trigger={
          <IconButton label="More actions" className="size-9 rounded-lg border border-line-strong bg-surface">
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        <MenuItem icon={<Pencil aria-hidden />} onSelect={edit}>
          Edit
        </MenuItem>
        {webhook.status === 'enabled' ? (
          <MenuItem icon={<PowerOff aria-hidden />} onSelect={() => setOpen('disable')}>
            Disable…
          </MenuItem>
        ) : (
          <MenuItem icon={<Power aria-hidden />} onSelect={() => void setStatus('enabled').catch(tellError)}>
            Enable
          </MenuItem>
        )}
        <MenuLine />
        <MenuItem icon={<Trash2 aria-hidden />} isDangerous onSelect={() => setOpen('delete')}>
          Delete…
        </MenuItem>
      </Menu>
      <Disable webhook={webhook} isOpen={open === 'disable'} onClose={close} />
      <Delete webhook={webhook} isOpen={open === 'delete'} onClose={close} />
    </>
  );
};
