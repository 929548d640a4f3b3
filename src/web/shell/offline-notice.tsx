import { WifiOff } from 'lucide-react';
import { useSyncExternalStore } from 'react';

const subscribe = (onChange: () => void) => {
  addEventListener('online', onChange);
  addEventListener('offline', onChange);
  return () => {
    removeEventListener('online', onChange);
    removeEventListener('offline', onChange);
  };
};

/** Says that what the page shows may be old. Queries run again by themselves once the browser is back online. */
export const OfflineNotice = () => {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  return (
    <div role="status">
      {!isOnline && (
        <p className="flex items-center gap-2 border-b border-line bg-warn-soft px-5 py-2 text-sm">
          <WifiOff aria-hidden className="size-4 shrink-0 text-warn" />
          You are offline. What you see may be old, and changes can’t be saved until you are back.
        </p>
      )}
    </div>
  );
};
