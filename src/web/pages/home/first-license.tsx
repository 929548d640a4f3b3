import { useMutation } from '@tanstack/react-query';
import { createLicense } from '../../data/license-mutations.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { showError } from '../../ui/toast.tsx';

export const FirstLicense = () => {
  const create = useMutation({ ...createLicense, onError: showError });
  const createSample = () =>
    create.mutate({
      json: { product: 'Sample', duration_days: 30 },
      idempotencyKey: crypto.randomUUID(),
    });
  return (
    <>
      <p>A license gives a customer a key that is valid until a date of your choice.</p>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" variant="solid" isBusy={create.isPending} onClick={createSample}>
          Create a sample license
        </Button>
        <ButtonLink to="/licenses" search={{ create: true }} size="sm">
          Fill in the form
        </ButtonLink>
      </div>
    </>
  );
};
