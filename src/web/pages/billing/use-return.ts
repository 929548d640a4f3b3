import { useEffect, useEffectEvent } from 'react';

/**
 * Calls `onReturn` when the Back button brings the user back from the provider's page, and the browser has kept this page as it was:
 * with a button that is still busy.
 */
export const useReturn = (onReturn: () => void) => {
  const onShow = useEffectEvent(({ persisted }: PageTransitionEvent) => {
    if (persisted) onReturn();
  });
  useEffect(() => {
    addEventListener('pageshow', onShow);
    return () => removeEventListener('pageshow', onShow);
  }, []);
};
