import { useState } from 'react';
import { addWebhook } from '../../data/mutations.ts';
import type { RevealedWebhook } from '../../data/webhook-queries.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Secret } from '../../ui/copy.tsx';
import { Dialog, DialogActions, FormActions } from '../../ui/dialog.tsx';
import { Drafted, useDraft } from '../../ui/draft.tsx';
import { Form } from '../../ui/form.tsx';
import { useOnce } from '../../ui/use-once.ts';
import { chosenEvents, EventChoice } from './events.tsx';
import { DescriptionField, UrlField } from './fields.tsx';
import { VerifyHint } from './secret.tsx';

interface AddFormProps {
  onAdded: (webhook: RevealedWebhook) => void;
  onClose: () => void;
}

const AddForm = ({ onAdded, onClose }: AddFormProps) => {
  const add = useOnce({ ...addWebhook, onSuccess: onAdded });
  const send = ({ url = '', description }: Record<string, string>, form: FormData) => {
    const events = chosenEvents(form);
    add.mutate({ url: url.trim(), ...(description?.trim() && { description }), ...(events && { events }) });
  };
  return (
    <Form write={add} onSend={send} draft={useDraft()}>
      <UrlField />
      <DescriptionField />
      <EventChoice />
      <FormActions onCancel={onClose} isBusy={add.isPending}>
        Add webhook
      </FormActions>
    </Form>
  );
};

const Added = ({ webhook, onClose }: { webhook: RevealedWebhook; onClose: () => void }) => (
  <div className="grid gap-4">
    <Secret value={webhook.secret} what="signing secret" isShownOnce={false} />
    <VerifyHint />
    <DialogActions>
      <Button onClick={onClose}>Done</Button>
      <ButtonLink to="/webhooks/$id" params={{ id: webhook.id }} variant="solid">
        Open webhook
      </ButtonLink>
    </DialogActions>
  </div>
);

export const AddWebhook = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) => {
  const [added, setAdded] = useState<RevealedWebhook | null>(null);
  const close = () => {
    onClose();
    setAdded(null);
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={added ? 'Webhook added' : 'Add webhook'}
      hint={added && 'Use this signing secret to verify requests. You can reveal it again at any time.'}
    >
      {added ? (
        <Added webhook={added} onClose={close} />
      ) : (
        <Drafted name="add-webhook">
          <AddForm onAdded={setAdded} onClose={close} />
        </Drafted>
      )}
    </Dialog>
  );
};
