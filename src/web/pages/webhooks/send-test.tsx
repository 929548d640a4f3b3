import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { sendTestEvent } from '../../data/mutations.ts';
import { Button } from '../../ui/button.tsx';
import { showError } from '../../ui/toast.tsx';

/** Sends a test event and opens its delivery. */
export const SendTest = ({ id }: { id: string }) => {
  const navigate = useNavigate();
  const send = useMutation({
    ...sendTestEvent(id),
    onSuccess: (delivery) =>
      navigate({
        to: '/webhooks/$id',
        params: { id },
        search: { tab: 'deliveries', delivery: delivery.id },
        resetScroll: false,
      }),
    onError: showError,
  });
  return (
    <Button isBusy={send.isPending} onClick={() => send.mutate()}>
      <Send aria-hidden />
      Send test event
    </Button>
  );
};
