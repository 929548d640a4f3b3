import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { deleteProduct } from '../../data/license-mutations.ts';
import type { Product } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { showToast } from '../../ui/toast.tsx';

export const DeleteProduct = ({ product }: { product: Product }) => {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const leave = () => {
    showToast('Product deleted');
    return navigate({ to: '/products' });
  };
  return (
    <>
      <Button size="sm" variant="danger-outline" onClick={() => setOpen(true)}>
        Delete
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={`Delete ${product.name ?? product.code}?`}
        action="Delete product"
        isDangerous
        write={deleteProduct(product.code)}
        onDone={leave}
      >
        <p>The product and its terms are deleted. A product that licenses still name can’t be deleted.</p>
      </Confirm>
    </>
  );
};
