import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, useCallback, useRef, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { Holding, useAskBeforeUnload, useHolds } from './hold.ts';

export const BACKDROP =
  'fixed inset-0 z-40 bg-veil transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0';
export const POPUP =
  'fixed top-[max(1rem,12vh)] left-1/2 z-40 flex max-h-[min(44rem,calc(100dvh-2rem-6vh))] w-[calc(100vw-2rem)] -translate-x-1/2 flex-col rounded-xl border border-line bg-raised shadow-pop outline-none transition-[opacity,scale] duration-150 data-ending-style:scale-98 data-ending-style:opacity-0 data-starting-style:scale-98 data-starting-style:opacity-0';

/** Replaces `autoFocus`, which would move the focus before the dialog stores where to return it. */
const firstField = (content: HTMLElement | null) =>
  content?.querySelector<HTMLElement>('input, select, textarea') ?? null;

export interface DialogProps {
  isOpen: boolean;
  onClose: () => void;
  /** Called when the closing animation has ended, so the content may change. */
  onClosed?: () => void;
  title: string;
  hint?: ReactNode;
  width?: string;
  /** Returns the element to focus afterwards, if the button that opened the dialog may be gone. */
  focusAfter?: () => HTMLElement | null;
  children: ReactNode;
}

/** Whether fields that somebody has typed into are still shown. */
const useTyped = () => {
  const [fields] = useState(() => new Set<EventTarget>());
  const isTyped = useCallback(
    () => [...fields].some((field) => field instanceof Element && field.isConnected),
    [fields],
  );
  return { isTyped, note: ({ target }: { target: EventTarget }) => void fields.add(target) };
};

const DiscardQuestion = ({ onKeep, onDiscard }: { onKeep: () => void; onDiscard: () => void }) => (
  <div
    role="alert"
    className="flex flex-wrap items-center justify-end gap-2 rounded-b-xl border-t border-line bg-warn-soft px-5 py-3"
  >
    <p className="mr-auto font-medium">Discard what you have typed?</p>
    <Button size="sm" autoFocus onClick={onKeep}>
      Keep editing
    </Button>
    <Button size="sm" variant="danger" onClick={onDiscard}>
      Discard
    </Button>
  </div>
);

/** A dialog that can't ask for a password. Use `Dialog`. */
export const DialogFrame = ({
  isOpen,
  onClose,
  onClosed,
  title,
  hint,
  width = 'max-w-lg',
  focusAfter,
  children,
}: DialogProps) => {
  const content = useRef<HTMLDivElement>(null);
  const [isAsking, setAsking] = useState(false);
  const { isTyped, note } = useTyped();
  const { isHeld, hold } = useHolds();
  useAskBeforeUnload(() => isHeld || isTyped());
  const close = () => {
    if (isHeld) return;
    if (isTyped()) setAsking(!isAsking);
    else onClose();
  };
  const reset = () => {
    setAsking(false);
    onClosed?.();
  };
  return (
    <Base.Root
      open={isOpen}
      onOpenChange={(open) => !open && close()}
      onOpenChangeComplete={(open) => !open && reset()}
    >
      <Base.Portal>
        <Base.Backdrop className={BACKDROP} />
        <Base.Popup
          initialFocus={(by) => by === 'touch' || firstField(content.current)}
          {...(focusAfter && { finalFocus: focusAfter })}
          className={`${POPUP} ${width}`}
        >
          <div className="flex items-start gap-4 px-5 pt-4 pb-3">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              {hint && <Base.Description className="text-sm text-muted">{hint}</Base.Description>}
            </div>
            {!isHeld && (
              <Base.Close render={<IconButton label="Close" className="-mr-1.5" />}>
                <X aria-hidden />
              </Base.Close>
            )}
          </div>
          <div ref={content} onInput={note} className="min-h-0 overflow-y-auto px-5 pt-1 pb-5">
            <Holding value={hold}>{children}</Holding>
          </div>
          {isAsking && <DiscardQuestion onKeep={() => setAsking(false)} onDiscard={onClose} />}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
};

/** The row of buttons at the end of a dialog. */
export const DialogActions = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-wrap justify-end gap-2 pt-1">{children}</div>
);

/** The Cancel and submit buttons of a form in a dialog. */
export const FormActions = ({
  onCancel,
  isBusy,
  children,
}: {
  onCancel: () => void;
  isBusy: boolean;
  children: string;
}) => (
  <DialogActions>
    <Button onClick={onCancel}>Cancel</Button>
    <Button type="submit" variant="solid" isBusy={isBusy}>
      {children}
    </Button>
  </DialogActions>
);
