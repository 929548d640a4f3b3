import { useQuery } from '@tanstack/react-query';
import { type ApiKey, revealApiKey } from '../../data/queries.ts';
import { Secret } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

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
      <Secret value={data.api_key} what="key" />
      {data.allowed_ips && (
        <p className="text-sm break-all text-muted">It works only from {data.allowed_ips.join(', ')}.</p>
      )}
    </div>
  );
};

export const RevealKey = ({
  apiKey,
  isOpen,
  onClose,
}: {
  apiKey: ApiKey;
  isOpen: boolean;
  onClose: () => void;
}) => (
  <Dialog
    isOpen={isOpen}
    onClose={onClose}
    title={apiKey.name ?? 'API key'}
    hint="Anyone with this key can use it. Keep it out of code that others can read."
  >
    <Revealed id={apiKey.id} />
  </Dialog>
);
