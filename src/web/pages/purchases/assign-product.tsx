import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { assignPurchase } from '../../data/store-queries.ts';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { showToast } from '../../ui/toast.tsx';
import { ProductField } from '../licenses/product-field.tsx';

const AssignForm = ({ purchaseId, onClose }: { purchaseId: string; onClose: () => void }) => {
  const [product, setProduct] = useState('');
  const assign = useMutation({
    ...assignPurchase(purchaseId),
    onSuccess: ({ licenses, reason }) => {
      // A purchase that lacks licenses has a reason, which its page shows.
      showToast(reason === null && licenses.length > 0 ? 'Licenses created' : 'Product chosen');
      onClose();
    },
  });
  return (
    <Form write={assign} onSend={() => assign.mutate(product)}>
      <ProductField value={product} onChoose={setProduct} />
      <FormActions onCancel={onClose} isBusy={assign.isPending}>
        Create licenses
      </FormActions>
    </Form>
  );
};

export const AssignProduct = ({
  purchaseId,
  isOpen,
  onClose,
}: {
  purchaseId: string;
  isOpen: boolean;
  onClose: () => void;
}) => (
  <Dialog
    isOpen={isOpen}
    onClose={onClose}
    title="Choose product"
    hint="For this purchase only. For later ones, add an offer to the store."
  >
    <AssignForm purchaseId={purchaseId} onClose={onClose} />
  </Dialog>
);
