import { useMutation } from '@tanstack/react-query';
import { createApiKey } from '../../data/mutations.ts';
import { Button } from '../../ui/button.tsx';
import { showError } from '../../ui/toast.tsx';

export const FirstKey = ({ onCreated }: { onCreated: (apiKey: string) => void }) => {
  const create = useMutation({
    ...createApiKey,
    onSuccess: ({ api_key }) => onCreated(api_key),
    onError: showError,
  });
  return (
    <>
      <p>
        Your application authenticates its calls with an API key. You can copy, reveal and delete it at any
        time.
      </p>
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
