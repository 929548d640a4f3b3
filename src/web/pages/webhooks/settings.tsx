import { useMutation } from '@tanstack/react-query';
import { editWebhook } from '../../data/mutations.ts';
import type { Webhook } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Form } from '../../ui/form.tsx';
import { showToast } from '../../ui/toast.tsx';
import { chosenEvents, EventChoice } from './events.tsx';
import { DescriptionField, UrlField } from './fields.tsx';
import { SecretCard } from './secret.tsx';

const EndpointCard = ({ webhook }: { webhook: Webhook }) => {
  const edit = useMutation({ ...editWebhook(webhook.id), onSuccess: () => showToast('Webhook saved') });
  const send = ({ url = '', description = '' }: Record<string, string>, form: FormData) =>
    edit.mutate({ url: url.trim(), description: description.trim() || null, events: chosenEvents(form) });
  return (
    <Card aria-label="Endpoint">
      <CardHeader title="Endpoint" hint="Changes apply to all future attempts, including retries." />
      <Form write={edit} onSend={send} className="px-5 pt-1 pb-5">
        <UrlField value={webhook.url} />
        <DescriptionField value={webhook.description} />
        <EventChoice events={webhook.events} />
        <div className="flex">
          <Button type="submit" variant="solid" isBusy={edit.isPending}>
            Save changes
          </Button>
        </div>
      </Form>
    </Card>
  );
};

export const Settings = ({ webhook }: { webhook: Webhook }) => (
  <div className="grid items-start gap-5 lg:grid-cols-2">
    <EndpointCard webhook={webhook} />
    <SecretCard id={webhook.id} />
  </div>
);
