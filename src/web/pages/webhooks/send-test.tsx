import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { api, call } from '../../data/client.ts';
import { Button } from '../../ui/button.tsx';
import { tellError } from '../../ui/toast.tsx';
import { putDelivery } from './put-delivery.ts';

/** Opens what it sent, so that one sees what comes of it. */
export const SendTest = ({ id }: { id: string }) => {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    try {
      const delivery = await call(api.webhooks[':id'].test.$post({ param: { id } }));
      await putDelivery(queryClient, id, delivery);
      await navigate({
        to: '/webhooks/$id',
        params: { id },
        search: { tab: 'deliveries', delivery: delivery.id },
        resetScroll: false,
      });
    } catch (error) {
      tellError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button isBusy={isBusy} onClick={() => void send()}>
      <Send aria-hidden />
      Send test event
    </Button>
  );
};
