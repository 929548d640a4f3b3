import { useMutation } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { OperatorActions } from '../../data/operator.ts';
import { Button } from '../../ui/button.tsx';
import { Secret } from '../../ui/copy.tsx';
import { Dialog, DialogActions, FormActions } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';

const InviteForm = ({
  actions,
  onInvited,
  onClose,
}: {
  actions: OperatorActions;
  onInvited: (url: string) => void;
  onClose: () => void;
}) => {
  const invite = useMutation({ ...actions.invite, onSuccess: ({ url }) => onInvited(url) });
  return (
    <Form write={invite} onSend={({ email = '' }) => invite.mutate(email.trim())}>
      <TextField
        label="Email"
        name="email"
        type="email"
        autoComplete="off"
        hint="Only this address can use the link. Leave it empty for a link that anyone can use once."
      />
      <FormActions onCancel={onClose} isBusy={invite.isPending}>
        Create link
      </FormActions>
    </Form>
  );
};

/** Makes a link with which one person can create an account. */
export const Invite = ({ actions }: { actions: OperatorActions }) => {
  const [isOpen, setOpen] = useState(false);
  const [url, setUrl] = useState<string | null>(null);
  const close = () => setOpen(false);
  return (
    <>
      <Button variant="solid" onClick={() => setOpen(true)}>
        <UserPlus aria-hidden />
        Invite
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={close}
        onClosed={() => setUrl(null)}
        title={url === null ? 'Invite someone' : 'Invitation'}
        hint={url === null ? 'The link works once, for seven days.' : 'Send this link. It isn’t shown again.'}
      >
        {url === null ? (
          <InviteForm actions={actions} onInvited={setUrl} onClose={close} />
        ) : (
          <div className="grid gap-4">
            <Secret value={url} what="link" isShownOnce />
            <DialogActions>
              <Button variant="solid" onClick={close}>
                Done
              </Button>
            </DialogActions>
          </div>
        )}
      </Dialog>
    </>
  );
};
