import { AlertDialog } from '@base-ui/react/alert-dialog';
import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { sessionEnded } from '../data/session.ts';
import { Button } from './button.tsx';
import { BACKDROP, DialogActions, POPUP } from './dialog-frame.tsx';
import { useAskBeforeUnload, useHold } from './hold.ts';

// Work of many calls, which goes on for as long as its page is open.

/** Does work with a signal, which is aborted when the page is left, or when another tab ends the session. */
export const useStoppable = () => {
  const [controller, setController] = useState(() => new AbortController());
  useEffect(() => {
    const stop = () => controller.abort();
    sessionEnded.addEventListener('abort', stop);
    return () => {
      sessionEnded.removeEventListener('abort', stop);
      stop();
    };
  }, [controller]);
  const [isWorking, setWorking] = useState(false);
  const work = async <Result,>(send: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
    const next = new AbortController();
    setController(next);
    setWorking(true);
    try {
      return await send(next.signal);
    } finally {
      setWorking(false);
    }
  };
  return { work, isWorking, stop: () => controller.abort(), isStopped: controller.signal.aborted };
};

const isLeaving: ShouldBlockFn = ({ current, next }) => current.pathname !== next.pathname;

/** Is shown while `useStoppable` is working: keeps its dialog open, and asks whoever leaves its page. */
export const Working = () => {
  useHold(true);
  useAskBeforeUnload(() => true);
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isLeaving,
    enableBeforeUnload: false,
    withResolver: true,
  });
  // Work that ends meanwhile shows its results.
  useEffect(() => () => reset?.(), [reset]);
  return (
    <AlertDialog.Root open={status === 'blocked'} onOpenChange={(open) => !open && reset?.()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={BACKDROP} />
        <AlertDialog.Popup className={`${POPUP} max-w-md p-5`}>
          <AlertDialog.Title className="text-lg font-semibold">Stop and leave this page?</AlertDialog.Title>
          <AlertDialog.Description className="mt-1.5 mb-5 text-muted">
            Leaving stops what this page is doing. What is done so far stays.
          </AlertDialog.Description>
          <DialogActions>
            <AlertDialog.Close render={<Button />}>Stay</AlertDialog.Close>
            <Button variant="danger" onClick={proceed}>
              Stop and leave
            </Button>
          </DialogActions>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
};
