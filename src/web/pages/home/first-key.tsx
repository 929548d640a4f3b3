import { useMutation } from '@tanstack/react-query';
import { createApiKey } from '../../data/mutations.ts';
import { Button } from '../../ui/button.tsx';
import { tellError } from '../../ui/toast.tsx';

export const FirstKey = ({ onCreated }: { onCreated: (apiKey: string) => void }) => {
  const create = useMutation({
    ...createApiKey,
    onSuccess: ({ api_key }) => onCreated(api_key),
    onError: tellError,
  });
  return (
    <>
      <p>Your application signs its calls with a key. You can copy, reveal and delete it at any time.</p>
      <Button
        size="sm"
        variant="solid"
        isBusy={create.isPending}
        onClick={() => create.mutate({ name: 'First key' })}
      >
        Create a key
      </Button>
    </>
  );
};
