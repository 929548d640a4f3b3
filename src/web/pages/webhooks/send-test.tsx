import { useNavigate } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { sendTestEvent } from '../../data/mutations.ts';
import { Button } from '../../ui/button.tsx';
import { showError } from '../../ui/toast.tsx';
import { useLeadingMutation } from '../../ui/use-leading-mutation.ts';

/** Sends a test event and opens its delivery. */
export const SendTest = ({ id }: { id: string }) => {
  const navigate = useNavigate();
  const send = useLeadingMutation({ ...sendTestEvent(id), onError: showError }, (delivery) =>
    navigate({
      to: '/webhooks/$id',
      params: { id },
      search: { tab: 'deliveries', delivery: delivery.id },
      resetScroll: false,
    }),
  );
  return (
    <Button isBusy={send.isPending} onClick={() => send.mutate()}>
      <Send aria-hidden />
      Send test event
    </Button>
  );
};
