import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis, History, Pencil, Power, PowerOff, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { DAY_MS, isoDate } from '../../../shared/rules/dates.ts';
import { KEEP_MISSED_MS } from '../../../shared/rules/webhooks.ts';
import { deleteWebhook, disableWebhook, enableWebhook, replayWebhook } from '../../data/mutations.ts';
import type { Webhook } from '../../data/webhook-queries.ts';
import { hostOf, plural } from '../../lib/format.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/form.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx';
import { showToast, showError } from '../../ui/toast.tsx';
import { SendTest } from './send-test.tsx';

interface DialogProps {
  webhook: Webhook;
  isOpen: boolean;
  onClose: () => void;
}

const KEPT_DAYS = KEEP_MISSED_MS / DAY_MS;

const Disable = ({ webhook, ...props }: DialogProps) => (
  <Confirm
    {...props}
    title="Disable this webhook?"
    action="Disable webhook"
    write={disableWebhook(webhook.id)}
    onDone={() => showToast('Webhook disabled')}
  >
    <p>It stops receiving events, and its pending deliveries are canceled.</p>
    <p>
      You can enable it again at any time, and then send what it missed: events are kept for {KEPT_DAYS} days.
    </p>
  </Confirm>
);

const Replay = ({ webhook, ...props }: DialogProps) => {
  const [day, setDay] = useState(() => isoDate(Date.now() - KEEP_MISSED_MS));
  return (
    <Confirm
      {...props}
      title="Send missed events?"
      action="Send missed events"
      field={
        <TextField
          type="date"
          label="Since"
          name="since"
          required
          value={day}
          onChange={(event) => setDay(event.currentTarget.value)}
        />
      }
      write={replayWebhook(webhook.id, day)}
      onDone={({ deliveries }) => showToast(`${plural(deliveries, 'delivery', 'deliveries')} due now`)}
    >
      <p>
        Everything that this webhook has missed or refused is sent again, oldest first: what happened while it
        was disabled, and deliveries that failed.
      </p>
    </Confirm>
  );
};

const Delete = ({ webhook, ...props }: DialogProps) => {
  const navigate = useNavigate();
  return (
    <Confirm
      {...props}
      title="Delete this webhook?"
      action="Delete webhook"
      isDangerous
      typed={hostOf(webhook.url)}
      write={deleteWebhook(webhook.id)}
      onDone={() => showToast('Webhook deleted')}
      lead={() => navigate({ to: '/webhooks' })}
    >
      <p>
        <span className="break-all text-ink">{webhook.url}</span> stops receiving events. Its pending
        deliveries are canceled and its delivery log is deleted. This can’t be undone.
      </p>
    </Confirm>
  );
};

export const WebhookActions = ({ webhook }: { webhook: Webhook }) => {
  const [open, setOpen] = useState<'disable' | 'replay' | 'delete' | null>(null);
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
          <>
            <MenuItem icon={<History aria-hidden />} onSelect={() => setOpen('replay')}>
              Send missed events…
            </MenuItem>
            <MenuItem icon={<PowerOff aria-hidden />} onSelect={() => setOpen('disable')}>
              Disable…
            </MenuItem>
          </>
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
      <Replay webhook={webhook} isOpen={open === 'replay'} onClose={close} />
      <Delete webhook={webhook} isOpen={open === 'delete'} onClose={close} />
    </>
  );
};
