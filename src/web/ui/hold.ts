import { createContext, use, useCallback, useEffect, useEffectEvent, useLayoutEffect, useState } from 'react';
import { sessionEnded } from '../data/session.ts';

// What would be lost if its dialog or page were closed by mistake.

/** Holds the dialog around until the returned function is called. */
type Hold = () => () => void;
/** Null outside of dialogs. */
export const Holding = createContext<Hold | null>(null);

/** Lets only its own buttons close the dialog around, while that shows what can't be seen again or work that goes on. */
export const useHold = (isHeld: boolean) => {
  const hold = use(Holding);
  useLayoutEffect(() => (isHeld ? hold?.() : undefined), [isHeld, hold]);
};

/** Whether a part of a dialog holds it, and the `Holding` for its parts. */
export const useHolds = () => {
  const [holds, setHolds] = useState(0);
  const hold = useCallback<Hold>(() => {
    setHolds((count) => count + 1);
    return () => setHolds((count) => count - 1);
  }, []);
  return { isHeld: holds > 0, hold };
};

/** The browser asks before it leaves a page on which something would be lost. */
export const useAskBeforeUnload = (isLosing: () => boolean) => {
  const ask = useEffectEvent((event: BeforeUnloadEvent) => {
    if (!sessionEnded.aborted && isLosing()) event.preventDefault();
  });
  useEffect(() => {
    const listener = (event: BeforeUnloadEvent) => ask(event);
    addEventListener('beforeunload', listener);
    return () => removeEventListener('beforeunload', listener);
  }, []);
};
