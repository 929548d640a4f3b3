import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { Form, TextField } from './form.tsx';

const BACKDROP =
  'fixed inset-0 z-40 bg-veil transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0';
const POPUP =
  'fixed top-[max(1rem,12vh)] left-1/2 z-40 flex max-h-[min(44rem,calc(100dvh-2rem-6vh))] w-[calc(100vw-2rem)] -translate-x-1/2 flex-col rounded-xl border border-line bg-raised shadow-pop outline-none transition-[opacity,scale] duration-150 data-ending-style:scale-98 data-ending-style:opacity-0 data-starting-style:scale-98 data-starting-style:opacity-0';

/** Not by `autoFocus`: that comes before the dialog remembers what to give the focus back to. */
const firstField = (content: HTMLElement | null) =>
  content?.querySelector<HTMLElement>('input, select, textarea') ?? null;

/** Closed by Escape, by its cross and by a click beside it; gives focus back to where it was. */
export const Dialog = ({
  isOpen,
  onClose,
  onClosed,
  title,
  hint,
  width = 'max-w-lg',
  children,
}: {
  isOpen: boolean;
  onClose: () => void;
  /** It is out of sight: what it showed may change. */
  onClosed?: () => void;
  title: string;
  hint?: ReactNode;
  width?: string;
  children: ReactNode;
}) => {
  const content = useRef<HTMLDivElement>(null);
  return (
    <Base.Root
      open={isOpen}
      onOpenChange={(open) => !open && onClose()}
      onOpenChangeComplete={(open) => !open && onClosed?.()}
    >
      <Base.Portal>
        <Base.Backdrop className={BACKDROP} />
        <Base.Popup
          initialFocus={(by) => by === 'touch' || firstField(content.current)}
          className={`${POPUP} ${width}`}
        >
          <div className="flex items-start gap-4 px-5 pt-4 pb-3">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              {hint && <Base.Description className="text-sm text-muted">{hint}</Base.Description>}
            </div>
            <Base.Close render={<IconButton label="Close" className="-mr-1.5" />}>
              <X aria-hidden />
            </Base.Close>
          </div>
          <div ref={content} className="min-h-0 overflow-y-auto px-5 pt-1 pb-5">
            {children}
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
};

/** The buttons of a form in a dialog. */
export const DialogActions = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-wrap justify-end gap-2 pt-1">{children}</div>
);

/** Of a form that may be given up or sent. */
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

interface ConfirmProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** What will be different afterwards. */
  children: ReactNode;
  /** The button's words: what is done, never "OK". */
  action: string;
  isDangerous?: boolean;
  /** Has to be typed before it can be done. */
  typed?: string;
  onConfirm: () => Promise<void>;
  /** What is focused afterwards, where the button that asked may be gone. */
  focusAfter?: () => HTMLElement | null;
}

/** Asks before something that can't be undone; what it throws is shown and it stays open. */
export const Confirm = ({ isOpen, onClose, focusAfter, ...props }: ConfirmProps) => (
  <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
    <AlertDialog.Portal>
      <AlertDialog.Backdrop className={BACKDROP} />
      <AlertDialog.Popup className={`${POPUP} max-w-md`} {...(focusAfter && { finalFocus: focusAfter })}>
        <ConfirmBody onClose={onClose} {...props} />
      </AlertDialog.Popup>
    </AlertDialog.Portal>
  </AlertDialog.Root>
);

const ConfirmBody = ({
  onClose,
  title,
  children,
  action,
  isDangerous = false,
  typed,
  onConfirm,
}: Omit<ConfirmProps, 'isOpen' | 'focusAfter'>) => {
  const [text, setText] = useState('');
  const send = async () => {
    await onConfirm();
    onClose();
  };
  return (
    <div className="p-5">
      <AlertDialog.Title className="text-lg font-semibold">{title}</AlertDialog.Title>
      <AlertDialog.Description render={<div />} className="mt-1.5 mb-5 grid gap-2 text-muted">
        {children}
      </AlertDialog.Description>
      <Form onSend={send}>
        {({ isBusy }) => (
          <>
            {typed !== undefined && (
              <TextField
                label={`Type ${typed} to confirm`}
                name="typed"
                value={text}
                onChange={(event) => setText(event.currentTarget.value)}
                autoComplete="off"
                spellCheck={false}
              />
            )}
            <DialogActions>
              <AlertDialog.Close render={<Button />}>Cancel</AlertDialog.Close>
              <Button
                type="submit"
                variant={isDangerous ? 'danger' : 'solid'}
                isBusy={isBusy}
                disabled={typed !== undefined && text !== typed}
              >
                {action}
              </Button>
            </DialogActions>
          </>
        )}
      </Form>
    </div>
  );
};
