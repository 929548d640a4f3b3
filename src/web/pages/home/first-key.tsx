import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../../data/client.ts';
import { Button } from '../../ui/button.tsx';
import { tellError } from '../../ui/toast.tsx';

export const FirstKey = ({ onCreated }: { onCreated: (apiKey: string) => void }) => {
  const queryClient = useQueryClient();
  const create = useMutation({
    mutationFn: () => call(api['create-api-key'].$post({ json: { name: 'First key' } })),
    onSuccess: async ({ api_key }) => {
      onCreated(api_key);
      await queryClient.invalidateQueries();
    },
    onError: tellError,
  });
  return (
    <>
      <p>Your application signs its calls with a key. You can copy, reveal and delete it at any time.</p>
      <Button size="sm" variant="solid" isBusy={create.isPending} onClick={() => create.mutate()}>
        Create a key
      </Button>
    </>
  );
};
