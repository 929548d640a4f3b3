import { useQuery } from '@tanstack/react-query';
import { Ellipsis, Eye, RefreshCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { deleteApiKey } from '../../data/mutations.ts';
import { type ApiKey, fetchFullApiKey, isActiveKey, revealApiKey } from '../../data/queries.ts';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { CopyIcon, Secret } from '../../ui/copy.tsx';
import { cx } from '../../ui/cx.ts';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Td, Tr } from '../../ui/table.tsx';
import { Time, useNow } from '../../ui/time.tsx';
import { showToast } from '../../ui/toast.tsx';
import { RotateKey } from './rotate-key.tsx';

const Revealed = ({ id }: { id: string }) => {
  const { data, error, refetch } = useQuery({
    queryKey: ['api-keys', 'revealed', id],
    queryFn: () => revealApiKey(id),
    // Drops the key from the cache when the dialog closes.
    gcTime: 0,
    staleTime: 0,
  });
  if (error) return <LoadError error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-11.5" />;
  return (
    <div className="grid gap-3">
      <Secret value={data.api_key} what="key" isShownOnce={false} />
      {data.allowed_ips && (
        <p className="text-sm break-all text-muted">It works only from {data.allowed_ips.join(', ')}.</p>
      )}
    </div>
  );
};

const RevealKey = ({ apiKey, isOpen, onClose }: { apiKey: ApiKey; isOpen: boolean; onClose: () => void }) => (
  <Dialog
    isOpen={isOpen}
    onClose={onClose}
    title={apiKey.name ?? 'API key'}
    hint="Anyone with this key can use it. Keep it out of code that others can read."
  >
    <Revealed id={apiKey.id} />
  </Dialog>
);

const DeleteKey = ({ apiKey, isOpen, onClose }: { apiKey: ApiKey; isOpen: boolean; onClose: () => void }) => (
  <Confirm
    isOpen={isOpen}
    onClose={onClose}
    title={`Delete ${apiKey.name ?? 'this API key'}?`}
    action="Delete key"
    isDangerous
    typed={apiKey.name ?? 'delete'}
    write={deleteApiKey(apiKey.id)}
    onDone={() => showToast('API key deleted')}
  >
    <p>
      Calls with <code className="text-ink">{apiKey.masked_key}</code> are refused from now on. This can’t be
      undone.
    </p>
  </Confirm>
);

const Expiry = ({ apiKey, at }: { apiKey: ApiKey; at: string }) => {
  const nowMs = useNow();
  return isActiveKey(apiKey, nowMs) ? (
    <span className="text-xs text-muted">
      Expires <Time at={at} />
    </span>
  ) : (
    <Badge tone="bad">Expired</Badge>
  );
};

const MAX_SHOWN_IPS = 2;

/** The addresses from which the key can be used, if they are limited. */
const AllowedIps = ({ ips }: { ips: string[] }) => {
  const shown = ips.slice(0, MAX_SHOWN_IPS).join(', ');
  const others = ips.length - MAX_SHOWN_IPS;
  return (
    <span className="text-xs break-all text-muted">
      Only from {shown}
      {others > 0 && ` and ${others} more`}
    </span>
  );
};

export const KeyRow = ({ apiKey }: { apiKey: ApiKey }) => {
  const [open, setOpen] = useState<'reveal' | 'rotate' | 'delete' | null>(null);
  const nowMs = useNow();
  const close = () => setOpen(null);
  const lastUsed = apiKey.last_used_at ? <Time at={apiKey.last_used_at} /> : 'Never';
  const scope = (
    <>
      <Badge>{apiKey.scope === 'verify' ? 'Verify only' : 'Full'}</Badge>
      {apiKey.allowed_ips && <AllowedIps ips={apiKey.allowed_ips} />}
    </>
  );
  return (
    <Tr>
      <Td className="max-w-56">
        <span className="flex flex-wrap items-center gap-x-2">
          <span className="truncate font-medium">
            {apiKey.name ?? <span className="font-normal text-muted">Unnamed</span>}
          </span>
          {apiKey.expires_at && <Expiry apiKey={apiKey} at={apiKey.expires_at} />}
        </span>
        <span className="mt-0.5 block md:hidden">
          <code className="block text-xs break-all">{apiKey.masked_key}</code>
          <span className="mt-1 flex flex-wrap items-center gap-x-2 text-xs text-muted">
            {scope}
            <span>Last used: {lastUsed}</span>
          </span>
        </span>
      </Td>
      <Td className="max-md:hidden">
        <span className="flex items-center gap-1">
          <code className="text-xs whitespace-nowrap">{apiKey.masked_key}</code>
          <CopyIcon text={() => fetchFullApiKey(apiKey.id)} what="key" />
          <IconButton label="Reveal key" onClick={() => setOpen('reveal')}>
            <Eye aria-hidden />
          </IconButton>
        </span>
      </Td>
      <Td className="max-w-44 max-md:hidden">
        <span className="grid justify-items-start gap-1">{scope}</span>
      </Td>
      <Td className="max-lg:hidden">
        <Time at={apiKey.created_at} />
      </Td>
      <Td className={cx('max-md:hidden', !apiKey.last_used_at && 'text-muted')}>{lastUsed}</Td>
      <Td className="w-12 text-right">
        <Menu
          trigger={
            <IconButton label={`More for ${apiKey.name ?? apiKey.masked_key}`}>
              <Ellipsis aria-hidden />
            </IconButton>
          }
        >
          <MenuItem icon={<Eye aria-hidden />} onSelect={() => setOpen('reveal')}>
            Reveal
          </MenuItem>
          <MenuItem
            icon={<RefreshCw aria-hidden />}
            disabled={!isActiveKey(apiKey, nowMs)}
            onSelect={() => setOpen('rotate')}
          >
            Rotate…
          </MenuItem>
          <MenuItem icon={<Trash2 aria-hidden />} isDangerous onSelect={() => setOpen('delete')}>
            Delete…
          </MenuItem>
        </Menu>
        <RevealKey apiKey={apiKey} isOpen={open === 'reveal'} onClose={close} />
        <RotateKey apiKey={apiKey} isOpen={open === 'rotate'} onClose={close} />
        <DeleteKey apiKey={apiKey} isOpen={open === 'delete'} onClose={close} />
      </Td>
    </Tr>
  );
};
