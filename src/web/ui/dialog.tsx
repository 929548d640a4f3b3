import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog as Base } from '@base-ui/react/dialog';
import { useMutation, type UseMutationOptions } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { Form, TextField } from './form.tsx';

const BACKDROP =
  'fixed inset-0 z-40 bg-veil transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0';
const POPUP =
  'fixed top-[max(1rem,12vh)] left-1/2 z-40 flex max-h-[min(44rem,calc(100dvh-2rem-6vh))] w-[calc(100vw-2rem)] -translate-x-1/2 flex-col rounded-xl border border-line bg-raised shadow-pop outline-none transition-[opacity,scale] duration-150 data-ending-style:scale-98 data-ending-style:opacity-0 data-starting-style:scale-98 data-starting-style:opacity-0';

/** Replaces `autoFocus`, which would move the focus before the dialog stores where to return it. */
const firstField = (content: HTMLElement | null) =>
  content?.querySelector<HTMLElement>('input, select, textarea') ?? null;

/** Closes on Escape, its close button and a click outside, and returns the focus. */
export const Dialog = ({
  isOpen,
  onClose,
  onClosed,
  title,
  hint,
  width = 'max-w-lg',
  focusAfter,
  children,
}: {
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
          {...(focusAfter && { finalFocus: focusAfter })}
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

interface ConfirmProps<Data> {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** Explains what the action changes. */
  children: ReactNode;
  /** The text of the button: a verb and its object, never "OK". */
  action: string;
  isDangerous?: boolean;
  /** What else the action takes. */
  field?: ReactNode;
  /** Text that the user must type to confirm the action. */
  typed?: string;
  /** Runs on confirmation. The dialog stays open until it succeeds. */
  write: UseMutationOptions<Data>;
  onDone?: (data: Data) => Promise<void> | void;
  /** Returns the element to focus afterwards, if the button that opened the dialog may be gone. */
  focusAfter?: () => HTMLElement | null;
}

/** Asks for confirmation of a mutation and shows its error. */
export const Confirm = <Data,>({ isOpen, onClose, focusAfter, ...props }: ConfirmProps<Data>) => (
  <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
    <AlertDialog.Portal>
      <AlertDialog.Backdrop className={BACKDROP} />
      <AlertDialog.Popup className={`${POPUP} max-w-md`} {...(focusAfter && { finalFocus: focusAfter })}>
        <ConfirmBody onClose={onClose} {...props} />
      </AlertDialog.Popup>
    </AlertDialog.Portal>
  </AlertDialog.Root>
);

const ConfirmBody = <Data,>({
  onClose,
  title,
  children,
  action,
  isDangerous = false,
  field,
  typed,
  write,
  onDone,
}: Omit<ConfirmProps<Data>, 'isOpen' | 'focusAfter'>) => {
  const [text, setText] = useState('');
  const mutation = useMutation({ ...write, ...(onDone && { onSuccess: onDone }) });
  return (
    <div className="p-5">
      <AlertDialog.Title className="text-lg font-semibold">{title}</AlertDialog.Title>
      <AlertDialog.Description render={<div />} className="mt-1.5 mb-5 grid gap-2 text-muted">
        {children}
      </AlertDialog.Description>
      <Form write={mutation} onSend={() => mutation.mutate(undefined, { onSuccess: onClose })}>
        {field}
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
            isBusy={mutation.isPending}
            disabled={typed !== undefined && text !== typed}
          >
            {action}
          </Button>
        </DialogActions>
      </Form>
    </div>
  );
};
