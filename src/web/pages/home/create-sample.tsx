import { useInfiniteQuery } from '@tanstack/react-query';
import { SAMPLE } from '../../../shared/rules/licenses.ts';
import { createLicense } from '../../data/license-mutations.ts';
import { productsQuery } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { showError } from '../../ui/toast.tsx';
import { useOnce } from '../../ui/use-once.ts';

export const SAMPLE_PRODUCT = 'sample';

/** Creates a license for the seller, whose key the snippets have. */
export const CreateSample = () => {
  const { data } = useInfiniteQuery(productsQuery);
  const create = useOnce({ ...createLicense, onError: showError });
  const products = data?.pages[0]?.data ?? [];
  const product = (products.find(({ code }) => code === SAMPLE_PRODUCT) ?? products[0])?.code;
  const json = { ...(product && { product }), metadata: { [SAMPLE]: true } };
  return (
    <Button
      size="sm"
      variant="solid"
      isBusy={create.isPending}
      disabled={!data}
      onClick={() => create.mutate(json)}
    >
      Create a sample license
    </Button>
  );
};
