import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis, Pencil, Power, PowerOff, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { deleteWebhook, disableWebhook, enableWebhook } from '../../data/mutations.ts';
import type { Webhook } from '../../data/queries.ts';
import { hostOf } from '../../lib/format.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx';
import { showToast, showError } from '../../ui/toast.tsx';
import { SendTest } from './send-test.tsx';

interface DialogProps {
  webhook: Webhook;
  isOpen: boolean;
  onClose: () => void;
}

const Disable = ({ webhook, ...props }: DialogProps) => (
  <Confirm
    {...props}
    title="Disable this webhook?"
    action="Disable webhook"
    write={disableWebhook(webhook.id)}
    onDone={() => showToast('Webhook disabled')}
  >
    <p>
      It stops receiving events, and its pending deliveries are canceled. Events that happen while it is
      disabled are not delivered later.
    </p>
    <p>You can enable it again at any time and resend canceled deliveries.</p>
  </Confirm>
);

const Delete = ({ webhook, ...props }: DialogProps) => {
  const navigate = useNavigate();
  const leave = () => {
    showToast('Webhook deleted');
    return navigate({ to: '/webhooks' });
  };
  return (
    <Confirm
      {...props}
      title="Delete this webhook?"
      action="Delete webhook"
      isDangerous
      typed={hostOf(webhook.url)}
      write={deleteWebhook(webhook.id)}
      onDone={leave}
    >
      <p>
        <span className="break-all text-ink">{webhook.url}</span> stops receiving events. Its pending
        deliveries are canceled and its delivery log is deleted. This can’t be undone.
      </p>
    </Confirm>
  );
};

export const WebhookActions = ({ webhook }: { webhook: Webhook }) => {
  const [open, setOpen] = useState<'disable' | 'delete' | null>(null);
  const enable = useMutation({
    ...enableWebhook(webhook.id),
    onSuccess: () => showToast('Webhook enabled'),
    onError: showError,
  });
  const navigate = useNavigate();
  const close = () => setOpen(null);
  const edit = () =>
    void navigate({ to: '/webhooks/$id', params: { id: webhook.id }, search: { tab: 'settings' } });
  return (
    <>
      {webhook.status === 'enabled' ? (
        <SendTest id={webhook.id} />
      ) : (
        <Button isBusy={enable.isPending} onClick={() => enable.mutate()}>
          <Power aria-hidden />
          Enable
        </Button>
      )}
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
          <MenuItem icon={<Power aria-hidden />} onSelect={() => enable.mutate()}>
            Enable
          </MenuItem>
        )}
        <MenuSeparator />
        <MenuItem icon={<Trash2 aria-hidden />} isDangerous onSelect={() => setOpen('delete')}>
          Delete…
        </MenuItem>
      </Menu>
      <Disable webhook={webhook} isOpen={open === 'disable'} onClose={close} />
      <Delete webhook={webhook} isOpen={open === 'delete'} onClose={close} />
    </>
  );
};
