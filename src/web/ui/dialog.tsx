import { AlertDialog } from '@base-ui/react/alert-dialog';
import type { UseMutationOptions } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { BACKDROP, DialogActions, DialogFrame, type DialogProps, POPUP } from './dialog-frame.tsx';
import { Form, TextField } from './form.tsx';
import { ProofPrompt } from './proof-prompt.tsx';
import { useLeadingMutation } from './use-leading-mutation.ts';

export { DialogActions, FormActions } from './dialog-frame.tsx';

/** Closes on Escape, its close button and a click outside, and returns the focus. */
export const Dialog = ({ children, ...props }: DialogProps) => (
  <DialogFrame {...props}>
    {children}
    <ProofPrompt />
  </DialogFrame>
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
  onDone?: (data: Data) => void;
  /** Goes to another page afterwards, unless somebody already has. */
  lead?: () => Promise<void>;
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
  lead,
}: Omit<ConfirmProps<Data>, 'isOpen' | 'focusAfter'>) => {
  const [text, setText] = useState('');
  const mutation = useLeadingMutation({ ...write, ...(onDone && { onSuccess: onDone }) }, lead);
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
      <ProofPrompt />
    </div>
  );
};
