import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, call } from '../../data/client.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { tellError } from '../../ui/toast.tsx';

export const FirstLicense = () => {
  const queryClient = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      call(api.v1.licenses.create.$post({ header: {}, json: { product: 'Sample', duration_days: 30 } })),
    onSuccess: () => queryClient.invalidateQueries(),
    onError: tellError,
  });
  return (
    <>
      <p>What a customer of yours gets: a key that is good until a day of your choice.</p>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" variant="solid" isBusy={create.isPending} onClick={() => create.mutate()}>
          Create a sample license
        </Button>
        <ButtonLink to="/licenses" search={{ create: true }} size="sm">
          Fill it in myself
        </ButtonLink>
      </div>
    </>
  );
};
