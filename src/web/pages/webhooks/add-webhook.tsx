import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, call } from '../../data/client.ts';
import { dashboardQuery, progressQuery, type RevealedWebhook, webhooksQuery } from '../../data/queries.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Secret } from '../../ui/copy.tsx';
import { Dialog, DialogActions, FormActions } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { chosenEvents, EventChoice } from './events.tsx';
import { DescriptionField, UrlField } from './fields.tsx';
import { VerifyHint } from './secret.tsx';

const CHANGED = [webhooksQuery, dashboardQuery, progressQuery];

interface AddFormProps {
  onAdded: (webhook: RevealedWebhook) => void;
  onClose: () => void;
}

const AddForm = ({ onAdded, onClose }: AddFormProps) => {
  const queryClient = useQueryClient();
  const send = async ({ url = '', description }: Record<string, string>, form: FormData) => {
    const events = chosenEvents(form);
    const webhook = await call(
      api.webhooks.$post({
        json: { url: url.trim(), ...(description?.trim() && { description }), ...(events && { events }) },
      }),
    );
    onAdded(webhook);
    await Promise.all(CHANGED.map(({ queryKey }) => queryClient.invalidateQueries({ queryKey })));
  };
  return (
    <Form onSend={send}>
      {({ isBusy }) => (
        <>
          <UrlField />
          <DescriptionField />
          <EventChoice />
          <FormActions onCancel={onClose} isBusy={isBusy}>
            Add webhook
          </FormActions>
        </>
      )}
    </Form>
  );
};

const Added = ({ webhook, onClose }: { webhook: RevealedWebhook; onClose: () => void }) => (
  <div className="grid gap-4">
    <Secret value={webhook.secret} what="signing secret" />
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
      hint={
        added && 'This is its signing secret. Give it to your endpoint; you can reveal it again at any time.'
      }
    >
      {added ? <Added webhook={added} onClose={close} /> : <AddForm onAdded={setAdded} onClose={close} />}
    </Dialog>
  );
};
