import type { Dashboard } from '../../data/queries.ts';
import { formatBytes } from '../../lib/format.ts';
import { Meter } from '../../ui/meter.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

/** How much of its storage the account uses. */
export const Storage = ({ storage }: { storage: Dashboard['storage'] | undefined }) => (
  <div className="mt-3 grid gap-2 border-t border-line pt-3 text-sm">
    <p className="flex h-5 items-center justify-between">
      <span>Storage</span>
      {storage ? (
        <span className="nums text-muted">
          {formatBytes(storage.used)} of {formatBytes(storage.limit)}
        </span>
      ) : (
        <Skeleton className="h-3.5 w-28" />
      )}
    </p>
    {storage ? (
      <Meter label="Storage used" {...storage} format={formatBytes} />
    ) : (
      <Skeleton className="h-1.5" />
    )}
    {storage && storage.used >= storage.limit && (
      <p className="text-bad">
        Storage is full. Nothing can be added until you delete something or get a higher limit.
      </p>
    )}
  </div>
);
