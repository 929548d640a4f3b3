import { useSyncExternalStore } from 'react';

const WIDE = '(min-width: 1280px)';

const subscribe = (listener: () => void) => {
  const query = matchMedia(WIDE);
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
};

/** Returns whether the window is wide enough for a panel next to a list. */
export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => matchMedia(WIDE).matches);
